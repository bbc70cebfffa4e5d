// Score once, remove growing prefixes of the order (Michel et al. 2019, section 4.2).
#include "prune/ranking.h"

namespace headprune {
namespace {

class OneShot final : public PruneRule {
 public:
  struct Options : RankingOptions {
    std::optional<int64_t> at_step;
    std::vector<double> fractions = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};

    template <class V>
    void fields(V& v) {
      RankingOptions::fields(v);
      v("fractions", fractions, "fractions of the heads to remove, one point each; f of N removes floor(f N + 0.5)",
        not_empty, between(0, 1));
      v("at_step", at_step,
        "score and prune the model as it was after so many training steps (0: before the first); absent: as it is at "
        "the end",
        at_least(0));
    }
  };
  explicit OneShot(Options options) : options_(std::move(options)) {}

  std::vector<std::string> methods() const override { return options_.methods; }
  std::optional<int64_t> at_step() const override { return options_.at_step; }

  SweepPlan plan(const Blocks& blocks, const std::vector<MethodDraws>& methods) const override {
    TargetList list = removal_targets(options_.fractions, blocks, options_.limits());
    SweepPlan plan;
    plan.points = static_cast<int64_t>(list.targets.size()) * curve_count(methods);
    if (options_.at_step) plan.scorings = curve_count(methods);
    plan.messages = std::move(list.messages);
    return plan;
  }

  void run(const SweepInput& input) const override {
    const Blocks blocks = input.model.blocks();
    const OrderLimits limits = options_.limits();
    const TargetList list = removal_targets(options_.fractions, blocks, limits);
    for (const MethodDraws& method : input.methods) {
      for (int64_t draw = 0; draw < method.draws; ++draw) {
        const Curve curve{input, method.label, draw, limits, count_heads(blocks, limits.kinds)};
        if (input.at_step && all_done(curve, list.targets)) continue;
        const Importance scores = input.at_step
                                      ? input.host.score_again(input.model, method.label, draw, {}, input.sweep, 0)
                                      : input.host.intact_scores(method.label, draw);
        const std::vector<HeadId> order = ascending_order(blocks, scores.values, {}, limits.kinds);
        int64_t step = 0;
        for (const RemovalTarget& target : list.targets) {
          PlannedPoint point = curve_point(curve, step++, choose_heads(order, blocks, limits, target, {}));
          if (!point.removed.empty()) {  // the intact model needs no scores
            point.forward = scores.forward;
            point.backward = scores.backward;
          }
          if (!input.host.done(point.spec)) input.host.evaluate(input.model, point);
        }
      }
    }
  }

 private:
  Options options_;
};

const Register<PruneRule, OneShot> register_one_shot{"one_shot", "score once, remove growing prefixes of the order"};

}  // namespace
}  // namespace headprune
