// Score once, remove growing prefixes of the order (Michel et al. 2019, section 4.2).
#include "prune/ranking.h"

namespace headprune {
namespace {

class OneShot final : public PruneRule {
 public:
  struct Options : RankingOptions {
    std::optional<int64_t> at_step;
    std::vector<double> fractions = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
    std::optional<std::vector<int64_t>> heads;

    template <class V>
    void fields(V& v) {
      RankingOptions::fields(v);
      v("fractions", fractions, "fractions of the heads that may go, one point each; f of N removes floor(f N + 0.5)",
        between(0, 1));
      v("heads", heads, kNumbersHelp, at_least(0));
      v("at_step", at_step,
        "score and prune the model as it was after so many training steps (0: before the first); absent: as it is at "
        "the end",
        at_least(0));
    }
    CrossProblems problems() const {
      if (!fractions.empty() || heads) return {};
      return {{"fractions", "must not be empty without `heads`"}};
    }
    RemovalNumbers numbers() const { return {fractions, heads.value_or(std::vector<int64_t>())}; }
  };
  explicit OneShot(Options options) : options_(std::move(options)) {}

  std::vector<std::string> methods() const override { return options_.methods; }
  std::optional<int64_t> at_step() const override { return options_.at_step; }

  RulePlan plan(const RuleInput& input) const override {
    const RankedUnits units = options_.units(input.blocks);
    RulePlan plan;
    const OrderLimits limits = options_.limits(units, fixed_heads(options_, input, plan));
    const TargetList list = numbered_targets(options_.numbers(), units.blocks(), limits);
    plan.add(list.messages);
    for (const RankedBy& by : curves_of(input.methods)) {
      Unit& unit = plan.units.emplace_back();
      unit.name = curve_name(by, input.methods);
      add_scorings(unit, by, input.methods, options_.at_step ? 1 : 0);
      for (const RemovalTarget& target : list.targets) {
        unit.points.push_back(sweep_point(input, limits, std::ssize(unit.points), target.heads));
        unit.points.back().spec.method = by.method;
        unit.points.back().spec.draw = by.draw;
      }
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    const RankedUnits units = options_.units(model.blocks());
    const OrderLimits limits = options_.limits(units, unit.points.front().fixed);
    const RankedBy by = ranked_by(unit);
    const Importance scores = options_.at_step
                                  ? host.score_again(model, {by, HeadSet(), unit.points.front().spec.sweep, 0})
                                  : host.intact_scores(by);
    const std::vector<HeadId> order = ascending_order(units.blocks(), units.values(scores.values), {}, limits.kinds);
    const std::vector<RemovalTarget> targets = numbered_targets(options_.numbers(), units.blocks(), limits).targets;
    evaluate_along(order, {unit, units, limits, targets, scores.forward, scores.backward}, model, host);
  }

 private:
  Options options_;
};

const Register<PruneRule, OneShot> register_one_shot{"one_shot", "score once, remove growing prefixes of the order"};

}  // namespace
}  // namespace headprune
