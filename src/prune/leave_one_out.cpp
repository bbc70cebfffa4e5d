// Each head alone, or each group: what the model loses without it (Michel et al. 2019, section 3.2).
#include "prune/sensitivity.h"

namespace headprune {
namespace {

class LeaveOneOut final : public PruneRule {
 public:
  explicit LeaveOneOut(HeadUnit unit) : unit_(unit) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const int64_t all = std::ssize(all_heads(input.blocks));
    const Blocks units = in_units(input.blocks, unit_);
    for (size_t b = 0; b < input.blocks.size(); ++b) {
      const BlockHeads& block = input.blocks[b];
      if (block.heads.empty()) continue;
      Unit& unit = plan.units.emplace_back();
      unit.name = to_string(block.id);
      for (const int64_t id : units[b].heads) {
        const HeadSet removed = heads_of_units(HeadSet(std::vector<HeadId>{{block.id, id}}), {block}, unit_);
        PlannedPoint point = block_point(Table::leave_one_out, input.seed, block, removed.size());
        (unit_ == HeadUnit::query ? point.spec.head : point.spec.group) = id;
        point.heads_total = all;
        point.fraction = static_cast<double>(removed.size()) / static_cast<double>(all);
        point.removed = removed;
        unit.points.push_back(std::move(point));
      }
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    for (const PlannedPoint& point : unit.points) host.evaluate(model, point);
  }

 private:
  HeadUnit unit_;
};

}  // namespace

std::shared_ptr<const PruneRule> leave_one_out(HeadUnit unit) { return std::make_shared<LeaveOneOut>(unit); }

}  // namespace headprune
