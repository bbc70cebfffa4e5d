// Gates that are learnt to leave exactly k heads (Li, Cotterell and Sachan 2021): a training for each number of heads.
#include "prune/top_k_gates.h"

namespace headprune {
namespace {

class TopK final : public PruneRule {
 public:
  struct Options : LearnedOptions {
    std::vector<double> fractions = {0, 0.25, 0.5, 0.75, 1};
    std::vector<double> temperature = {1000, 1e-8};
    bool straight_through = false;

    Options() { learning_rate = 0.5; }
    template <class V>
    void fields(V& v) {
      v("fractions", fractions, "fractions of the heads to remove, a training and a point each", not_empty,
        between(0, 1));
      v("temperature", temperature, "of the first and of the last step; in between it falls log-linearly", above(0));
      v("straight_through", straight_through,
        "gates of 0 and 1 in the forward pass, with the gradient of the soft ones");
      LearnedOptions::fields(v);
    }
    CrossProblems problems() const {
      CrossProblems found = LearnedOptions::problems();
      if (temperature.size() != 2 || temperature[0] < temperature[1])
        found.emplace_back("temperature", "is a list of two, the first not below the second: [1000, 1e-8]");
      return found;
    }
  };
  explicit TopK(Options options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const GateUnits units(options_, input.blocks, fixed_heads(options_, input, plan));
    const TargetList list = removal_targets(options_.fractions, units.units().blocks(), units.limits());
    plan.add(list.messages);
    for (const RemovalTarget& target : list.targets) {
      const int64_t left = units.count() - target.heads;
      Unit& unit = plan.units.emplace_back();
      unit.name = fmt::format("k_{}", left);
      PlannedPoint point = sweep_point(input, units.limits(), std::ssize(plan.units) - 1, target.heads);
      point.spec.method = input.rule;
      if (target.heads > 0 && left > 0) options_.plan_training(unit, point);  // else there is nothing to choose
      unit.points.push_back(std::move(point));
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    const GatePoint at{unit, model, host};
    const PlannedPoint& planned = unit.points.front();
    const GateUnits units(options_, model.blocks(), planned.fixed);
    const int64_t left = units.count() - planned.spec.heads_removed / units.limits().heads_per_unit;
    if (unit.train_steps == 0) {
      PlannedPoint point = planned;
      if (left == 0) point.removed = units.heads_at(torch::ones({units.count()}, torch::kBool));
      return host.evaluate(model, point);
    }
    TopKGates gates(units, {.k = left,
                            .steps = host.steps(options_.steps),
                            .from = options_.temperature[0],
                            .to = options_.temperature[1],
                            .straight_through = options_.straight_through,
                            .seed = host.stream(at.name())});
    learn_point(at, options_, gates, [&](PlannedPoint& point) {
      const Blocks& blocks = units.units().blocks();
      const std::vector<HeadId> order =
          ascending_order(blocks, units.of_blocks(gates.weight().detach()), {}, units.limits().kinds);
      const RemovalTarget target{units.count() - left, {}};
      point.removed = units.units().heads(choose_heads(order, blocks, units.limits(), target, {}));
      host.record(learned_heads(units, at.label(), {{"weight", gates.weight()}}));
    });
  }

 private:
  Options options_;
};

const Register<PruneRule, TopK> register_top_k{
    "top_k", "gates learnt to leave exactly k heads (differentiable subset pruning, Li et al. 2021)"};

}  // namespace
}  // namespace headprune
