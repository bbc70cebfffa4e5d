// Each head alone: what the model loses without it (Michel et al. 2019, section 3.2).
#include "prune/sensitivity.h"

namespace headprune {
namespace {

class LeaveOneOut final : public PruneRule {
 public:
  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const int64_t all = std::ssize(all_heads(input.blocks));
    for (const BlockHeads& block : input.blocks) {
      if (block.heads.empty()) continue;
      Unit& unit = plan.units.emplace_back();
      unit.name = to_string(block.id);
      for (const int64_t head : block.heads) {
        PlannedPoint point = block_point(Table::leave_one_out, input.seed, block, 1);
        point.spec.head = head;
        point.heads_total = all;
        point.fraction = 1.0 / static_cast<double>(all);
        point.removed.insert({block.id, head});
        unit.points.push_back(std::move(point));
      }
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    for (const PlannedPoint& point : unit.points) host.evaluate(model, point);
  }
};

}  // namespace

std::shared_ptr<const PruneRule> leave_one_out() { return std::make_shared<LeaveOneOut>(); }

}  // namespace headprune
