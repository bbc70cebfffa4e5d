// Causal head gating (arXiv 2505.13737): from gates that fit the task, one training draws them to 1 and one to 0. What
// is low although it was drawn to 1 hurts, what is high although it was drawn to 0 is needed, and the rest does not
// matter. Heads that hurt go first, then those that do not matter.
#include <cmath>

#include "prune/logit_gates.h"

namespace headprune {
namespace {

class RetentionRemoval final : public PruneRule {
 public:
  struct Options : GateOptions {
    std::vector<double> fractions = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
    double lambda = 0.1;
    double clamp = 4;

    Options() {
      learning_rate = 1;
      steps = 500;
    }
    template <class V>
    void fields(V& v) {
      v("fractions", fractions, "fractions of the heads to remove, one point each", not_empty, between(0, 1));
      v("lambda", lambda, "weight of the mean logit that draws gates to 1, and in the other training to 0", above(0));
      v("clamp", clamp, "logits stay between -clamp and clamp", above(0));
      GateOptions::fields(v);
      v.not_supported("train_weights", "what is asked is what the heads do in the model as it is");
    }
  };
  explicit RetentionRemoval(Options options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const GateUnits units(options_, input.blocks, fixed_heads(options_, input, plan));
    const TargetList list = removal_targets(options_.fractions, units.units().blocks(), units.limits());
    plan.add(list.messages);
    Unit& unit = plan.units.emplace_back();
    unit.name = "fits";
    unit.train_steps = kFits * options_.steps;
    for (const RemovalTarget& target : list.targets) {
      unit.points.push_back(sweep_point(input, units.limits(), std::ssize(unit.points), target.heads));
      unit.points.back().spec.method = input.rule;
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    const GateUnits units(options_, model.blocks(), unit.points.front().fixed);
    const std::string& sweep = unit.points.front().spec.sweep;
    Fit fit{units, model, host, sweep};
    const torch::Tensor start = fit_logits(fit, "fit", torch::zeros({units.count()}, torch::kFloat64), 0);
    const torch::Tensor kept = torch::sigmoid(fit_logits(fit, "retention", start, options_.lambda));
    const torch::Tensor left = torch::sigmoid(fit_logits(fit, "removal", start, -options_.lambda));
    host.record(findings(units, sweep, kept, left));

    const std::vector<HeadId> order =
        ascending_order(units.units().blocks(), units.of_blocks(kept + left), {}, units.limits().kinds);
    const std::vector<RemovalTarget> targets =
        removal_targets(options_.fractions, units.units().blocks(), units.limits()).targets;
    evaluate_along(order, {unit, units.units(), units.limits(), targets, fit.forward, fit.backward}, model, host);
  }

 private:
  static constexpr int64_t kFits = 3;
  static constexpr int64_t kMostRoles = 300;

  struct Fit {
    const GateUnits& units;
    Model& model;
    RuleHost& host;
    const std::string& sweep;
    int64_t forward = 0, backward = 0;
  };

  torch::Tensor fit_logits(Fit& fit, const std::string& name, const torch::Tensor& from, double pull) const {
    LogitGates gates(fit.units, {.logits = from, .pull = pull, .clamp = options_.clamp});
    const auto [forward, backward] = fit.host.learn_gates(
        fit.model,
        {.name = fit.sweep + "/" + name, .steps = options_.steps, .gates = {&gates, options_.learning_rate}});
    fit.forward += forward;
    fit.backward += backward;
    return gates.logit().detach();
  }

  /// Scores of the paper's section 3: what a head is, is the largest of the three.
  static LearnedHeads findings(const GateUnits& units, const std::string& sweep, const torch::Tensor& kept,
                               const torch::Tensor& left) {
    const std::vector<UnitColumn> columns = {{"gate_retention", kept},
                                             {"gate_removal", left},
                                             {"facilitating", left},
                                             {"irrelevant", kept * (1 - left)},
                                             {"interfering", 1 - kept}};
    LearnedHeads found = learned_heads(units, sweep, columns);
    constexpr size_t kFirstRole = 2;
    for (size_t c = kFirstRole; c < columns.size(); ++c)
      found.done.strengths.push_back({columns[c].name, columns[c].name});
    // A line of the journal has an end, and most heads of a large model are irrelevant.
    const bool many = units.count() > kMostRoles;
    if (many) found.done.notes.emplace_back("heads without a role here are irrelevant");
    for (const AnalysisBlock& block : found.blocks) {
      if (block.columns.empty()) continue;
      for (size_t h = 0; h < block.heads.size(); ++h) {
        if (std::isnan(block.columns.front().values[h])) continue;  // has no gate
        size_t largest = kFirstRole;
        for (size_t c = kFirstRole; c < columns.size(); ++c)
          if (block.columns[c].values[h] > block.columns[largest].values[h]) largest = c;
        const std::string& role = columns[largest].name;
        if (many && role == "irrelevant") continue;
        found.done.roles.push_back(
            {.head = {block.block, block.heads[h]}, .role = role, .detail = "", .column = role, .evidence = {}});
      }
    }
    return found;
  }

  Options options_;
};

const Register<PruneRule, RetentionRemoval> register_retention_removal{
    "retention_removal",
    "gates drawn to 1 and to 0 tell heads that help from those that hurt (causal head gating, 2025)"};

}  // namespace
}  // namespace headprune
