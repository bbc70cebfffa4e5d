// Gates with an L0 penalty (Voita et al. 2019, section 6): how many heads stay follows from lambda, a point for each.
// At the end every gate is 0 or 1, so the point is a mask as any other.
#include <set>

#include "prune/hard_concrete_gates.h"

namespace headprune {
namespace {

struct KindWeights {
  double encoder = 1, decoder = 1, cross = 1;

  template <class V>
  void fields(V& v) {
    v("encoder", encoder, "factor on lambda for the encoder's heads", at_least(0));
    v("decoder", decoder, "the same for self-attention of a decoder", at_least(0));
    v("cross", cross, "the same for attention to an encoder", at_least(0));
  }
  double of(Kind kind) const { return kind == Kind::encoder ? encoder : kind == Kind::decoder ? decoder : cross; }
};

/// "lambda_0.00001": no exponent, since names of files are made of it.
std::string lambda_name(double lambda) {
  std::string digits = fmt::format("{:.12f}", lambda);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return "lambda_" + digits;
}

class HardConcrete final : public PruneRule {
 public:
  struct Options : LearnedOptions {
    std::vector<double> lambdas;
    KindWeights kind_weights;
    double init = 2;

    template <class V>
    void fields(V& v) {
      v("lambdas", lambdas,
        "weights of the penalty, a point each: lambda times the expected number of open heads is added to the loss",
        not_empty, at_least(0));
      v("kind_weights", kind_weights, "factors on lambda by kind of attention");
      v("init", init, "log alpha of every gate at the start; 2: open with probability 0.94");
      LearnedOptions::fields(v);
    }
    CrossProblems problems() const {
      CrossProblems found = LearnedOptions::problems();
      if (std::set<double>(lambdas.begin(), lambdas.end()).size() != lambdas.size())
        found.emplace_back("lambdas", "a number stands twice; each is one point");
      return found;
    }
  };
  explicit HardConcrete(Options options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const GateUnits units(options_, input.blocks, fixed_heads(options_, input, plan));
    for (const double lambda : options_.lambdas) {
      Unit& unit = plan.units.emplace_back();
      unit.name = lambda_name(lambda);
      PlannedPoint point = sweep_point(input, units.limits(), std::ssize(plan.units) - 1, 0);
      point.spec.method = input.rule;
      point.spec.name = unit.name;
      point.spec.lambda = lambda;
      options_.plan_training(unit, point);
      unit.points.push_back(std::move(point));
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    const GatePoint at{unit, model, host};
    const PlannedPoint& planned = unit.points.front();
    const GateUnits units(options_, model.blocks(), planned.fixed);
    HardConcreteGates gates(
        units,
        {.log_alpha = options_.init, .lambdas = lambdas(units, *planned.spec.lambda), .seed = host.stream(at.name())});
    learn_point(at, options_, gates, [&](PlannedPoint& point) {
      point.removed = units.heads_at(gates.closed());
      point.spec.heads_removed = point.removed.size();
      point.fraction = static_cast<double>(point.spec.heads_removed) / static_cast<double>(point.heads_total);
      host.record(learned_heads(units, at.label(),
                                {{"open_probability", gates.open_probability()}, {"log_alpha", gates.log_alpha()}}));
      if (point.spec.heads_removed == 0 || point.spec.heads_removed == point.heads_total)
        host.warn(
            "lambda_without_choice",
            fmt::format("{}: {} of {} heads are closed: lambda says nothing about which head matters; try a {} one",
                        at.name(), point.spec.heads_removed, point.heads_total,
                        point.spec.heads_removed == 0 ? "larger" : "smaller"));
    });
  }

 private:
  torch::Tensor lambdas(const GateUnits& units, double lambda) const {
    std::vector<double> of_units;
    for (const HeadId& id : units.ids()) of_units.push_back(lambda * options_.kind_weights.of(id.block.kind));
    return torch::tensor(of_units, torch::kFloat64);  // [U]
  }

  Options options_;
};

const Register<PruneRule, HardConcrete> register_hard_concrete{
    "hard_concrete", "gates learnt with an L0 penalty, a point for each lambda (Voita et al. 2019)"};

}  // namespace
}  // namespace headprune
