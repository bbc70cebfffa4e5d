// Each head alone, or each group: what the model loses without it (Michel et al. 2019, section 3.2).
#include "prune/ranking.h"
#include "prune/sensitivity.h"

namespace headprune {
namespace {

class LeaveOneOut final : public PruneRule {
 public:
  explicit LeaveOneOut(SensitivityOptions options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const HeadUnit by = options_.head_unit();
    const HeadSet fixed = fixed_heads(options_, input, plan);
    const int64_t all = std::ssize(all_heads(input.blocks));
    for (const BlockHeads& whole : input.blocks) {
      const BlockHeads block = without_fixed(whole, fixed, by);
      if (block.heads.empty()) continue;
      Unit& unit = plan.units.emplace_back();
      unit.name = to_string(block.id);
      const BlockHeads units = in_units({block}, by).front();
      for (const int64_t id : units.heads) {
        const HeadSet removed = heads_of_units(HeadSet(std::vector<HeadId>{{block.id, id}}), {block}, by);
        PlannedPoint point = block_point(Table::leave_one_out, input.seed, block, removed.size());
        (by == HeadUnit::query ? point.spec.head : point.spec.group) = id;
        point.heads_total = all;
        point.fraction = static_cast<double>(removed.size()) / static_cast<double>(all);
        point.removed = removed;
        point.fixed = fixed;
        unit.points.push_back(std::move(point));
      }
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

std::shared_ptr<const PruneRule> leave_one_out(const SensitivityOptions& options) {
  return std::make_shared<LeaveOneOut>(options);
}

}  // namespace headprune
