// All heads of a block at once.
#include "prune/sensitivity.h"

namespace headprune {
namespace {

class LayerRemoved final : public PruneRule {
 public:
  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    for (const BlockHeads& block : input.blocks) {
      if (block.heads.empty()) continue;
      PlannedPoint point = block_point(Table::layer_removed, input.seed, block, block.count());
      point.removed = other_heads(block, -1);
      plan.units.push_back({.name = to_string(block.id), .points = {std::move(point)}});
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    for (const PlannedPoint& point : unit.points) host.evaluate(model, point);
  }
};

}  // namespace

std::shared_ptr<const PruneRule> layer_removed() { return std::make_shared<LayerRemoved>(); }

}  // namespace headprune
