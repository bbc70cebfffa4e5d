// All heads of a block at once.
#include "prune/ranking.h"
#include "prune/sensitivity.h"

namespace headprune {
namespace {

class LayerRemoved final : public PruneRule {
 public:
  explicit LayerRemoved(SensitivityOptions options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const HeadSet fixed = fixed_heads(options_, input, plan);
    for (const BlockHeads& block : without_fixed(input.blocks, fixed, options_.head_unit())) {
      if (block.heads.empty()) continue;
      PlannedPoint point = block_point(Table::layer_removed, input.seed, block, block.count());
      point.removed = other_heads(block, -1);
      point.fixed = fixed;
      plan.units.push_back({.name = to_string(block.id), .points = {std::move(point)}});
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    for (const PlannedPoint& point : unit.points) host.evaluate(model, point);
  }

 private:
  SensitivityOptions options_;
};

}  // namespace

std::shared_ptr<const PruneRule> layer_removed(const SensitivityOptions& options) {
  return std::make_shared<LayerRemoved>(options);
}

}  // namespace headprune
