// A block's heads but its best, or its groups (Michel et al. 2019, section 3.3). Choosing the kept head and measuring
// it use different splits, so that the number is not the luckiest of H.
#include "prune/ranking.h"
#include "prune/sensitivity.h"

namespace headprune {
namespace {

class AllButOne final : public PruneRule {
 public:
  explicit AllButOne(SensitivityOptions options) : options_(std::move(options)), unit_(options_.head_unit()) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const HeadSet fixed = fixed_heads(options_, input, plan);
    for (const BlockHeads& block : without_fixed(input.blocks, fixed, unit_)) {
      if (block.heads.empty()) continue;
      Unit& unit = plan.units.emplace_back();
      unit.name = to_string(block.id);
      const BlockHeads units = in_units({block}, unit_).front();
      const RankedUnits ranked({block}, unit_);  // groups of one size, so that the number is known before the choice
      unit.points = {block_point(Table::all_but_one, input.seed, block, block.count() - ranked.heads_per_unit())};
      unit.points.front().fixed = fixed;
      unit.select_masks = units.count() > 1 ? units.count() : 0;
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    PlannedPoint point = unit.points.front();
    const BlockHeads block = without_fixed(block_of(point.spec, model.blocks()), point.fixed, unit_);
    const BlockHeads units = in_units({block}, unit_).front();
    if (units.heads.size() > 1) {
      std::vector<HeadSet> masks;
      for (const int64_t kept : units.heads) masks.push_back(other_heads(block, kept, unit_));
      const SelectValues select = host.select({}, masks);
      size_t best = 0;  // equal in both: the lower head
      for (size_t i = 1; i < select.values.size(); ++i)
        if (select.values[i].better_than(select.values[best])) best = i;
      point.removed = masks.at(best);
      point.forward = select.forward;
    }
    host.evaluate(model, point);
  }

 private:
  static BlockHeads block_of(const PointSpec& spec, const Blocks& blocks) {
    for (const BlockHeads& block : blocks)
      if (to_string(block.id.kind) == spec.kind && block.id.layer == spec.layer) return block;
    throw std::logic_error("all_but_one: a unit of another model");
  }

  SensitivityOptions options_;
  HeadUnit unit_;
};

}  // namespace

std::shared_ptr<const PruneRule> all_but_one(const SensitivityOptions& options) {
  return std::make_shared<AllButOne>(options);
}

}  // namespace headprune
