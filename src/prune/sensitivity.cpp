#include "prune/sensitivity.h"

#include <algorithm>

#include "prune/ranking.h"

namespace headprune {
namespace {

/// Blocks whose heads one curve removes, the others staying intact: a block (layer_curve), or all of an attention kind
/// (kind_curve). Those without heads are left out.
struct CurveUnit {
  Blocks blocks;
  std::vector<size_t> places;  // in the model's blocks
};

std::vector<CurveUnit> curve_units(Table table, const Blocks& blocks) {
  std::vector<CurveUnit> units;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].heads.empty()) continue;
    const bool joins =
        table == Table::kind_curve && !units.empty() && units.back().blocks.front().id.kind == blocks[b].id.kind;
    if (!joins) units.emplace_back();
    units.back().blocks.push_back(blocks[b]);
    units.back().places.push_back(b);
  }
  return units;
}

/// The tables asked for, each once.
std::vector<Table> tables_of(const SensitivityOptions& options) {
  std::vector<Table> tables;
  for (const Table table : options.tables)
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
  return tables;
}

/// A point of `table` that belongs to one block.
PlannedPoint block_point(Table table, int64_t seed, const BlockHeads& block, int64_t heads_removed) {
  PlannedPoint point;
  point.spec.seed = seed;
  point.spec.table = enum_name(table);
  point.spec.kind = to_string(block.id.kind);
  point.spec.layer = block.id.layer;
  point.spec.heads_removed = heads_removed;
  point.heads_total = block.count();
  point.fraction = static_cast<double>(heads_removed) / static_cast<double>(point.heads_total);
  return point;
}

void evaluate_unless_done(const SensitivityInput& input, const PlannedPoint& point) {
  if (!input.host.done(point.spec)) input.host.evaluate(input.model, point);
}

void leave_one_out(const SensitivityInput& input, const Blocks& blocks) {
  const auto all = static_cast<int64_t>(all_heads(blocks).size());
  for (const BlockHeads& block : blocks) {
    for (const int64_t head : block.heads) {
      PlannedPoint point = block_point(Table::leave_one_out, input.seed, block, 1);
      point.spec.head = head;
      point.heads_total = all;
      point.fraction = 1.0 / static_cast<double>(all);
      point.removed.insert({block.id, head});
      evaluate_unless_done(input, point);
    }
  }
}

/// The block's heads but `kept`.
HeadSet others(const BlockHeads& block, int64_t kept) {
  HeadSet removed;
  for (const int64_t head : block.heads)
    if (head != kept) removed.insert({block.id, head});
  return removed;
}

/// Choosing the kept head and measuring it use different splits, so that the number is not the luckiest of H.
void all_but_one(const SensitivityInput& input, const Blocks& blocks) {
  for (const BlockHeads& block : blocks) {
    if (block.heads.empty()) continue;
    PlannedPoint point = block_point(Table::all_but_one, input.seed, block, block.count() - 1);
    if (input.host.done(point.spec)) continue;
    if (block.heads.size() > 1) {
      std::vector<HeadSet> masks;
      for (const int64_t head : block.heads) masks.push_back(others(block, head));
      const SelectValues select = input.host.select(masks);
      size_t best = 0;  // equal in both: the lower head
      for (size_t i = 1; i < select.values.size(); ++i) {
        const SelectValue &value = select.values[i], &most = select.values[best];
        if (value.headline > most.headline || (value.headline == most.headline && value.loss < most.loss)) best = i;
      }
      point.removed = masks.at(best);
      point.forward = select.forward;
    }
    input.host.evaluate(input.model, point);
  }
}

void layer_removed(const SensitivityInput& input, const Blocks& blocks) {
  for (const BlockHeads& block : blocks) {
    if (block.heads.empty()) continue;
    PlannedPoint point = block_point(Table::layer_removed, input.seed, block, block.count());
    point.removed = others(block, -1);
    evaluate_unless_done(input, point);
  }
}

/// A point of a curve that removes heads of one unit only.
PlannedPoint unit_point(Table table, int64_t seed, const CurveUnit& unit, int64_t heads_removed) {
  PlannedPoint point = block_point(table, seed, unit.blocks.front(), heads_removed);
  if (table == Table::layer_curve) return point;
  point.spec.layer.reset();
  point.heads_total = std::ssize(all_heads(unit.blocks));
  point.fraction = static_cast<double>(heads_removed) / static_cast<double>(point.heads_total);
  return point;
}

void unit_curves(Table table, const SensitivityOptions& options, const SensitivityInput& input, const Blocks& blocks) {
  for (const MethodDraws& method : input.methods) {
    for (int64_t draw = 0; draw < method.draws; ++draw) {
      const Importance scores = input.host.intact_scores(method.label, draw);
      for (const CurveUnit& unit : curve_units(table, blocks)) {
        PerBlock values;
        for (const size_t place : unit.places) values.push_back(scores.values[place]);
        const std::vector<HeadId> order = ascending_order(unit.blocks, values, {}, {});
        int64_t step = 0;
        for (const RemovalTarget& target : removal_targets(options.fractions, unit.blocks, {}).targets) {
          PlannedPoint point = unit_point(table, input.seed, unit, target.heads);
          point.spec.method = method.label;
          point.spec.draw = draw;
          point.step = step++;
          point.removed = choose_heads(order, unit.blocks, {}, target, {});
          if (target.heads > 0) point.forward = scores.forward, point.backward = scores.backward;
          evaluate_unless_done(input, point);
        }
      }
    }
  }
}

/// One curve for each unit.
void plan_unit_curves(Table table, const SensitivityOptions& options, const Blocks& blocks, SensitivityPlan& plan,
                      int64_t curves) {
  for (const CurveUnit& unit : curve_units(table, blocks)) {
    const TargetList list = removal_targets(options.fractions, unit.blocks, {});
    plan.points += static_cast<int64_t>(list.targets.size()) * curves;
    for (const std::string& message : list.messages) {
      const std::string whole = fmt::format("{}: {}", enum_name(table), message);
      if (std::find(plan.messages.begin(), plan.messages.end(), whole) == plan.messages.end())
        plan.messages.push_back(whole);
    }
  }
}

}  // namespace

SensitivityPlan plan_sensitivity(const SensitivityOptions& options, const Blocks& blocks,
                                 const std::vector<MethodDraws>& methods) {
  SensitivityPlan plan;
  const auto with_heads = std::ssize(curve_units(Table::layer_curve, blocks));
  for (const Table table : tables_of(options)) {
    switch (table) {
      case Table::leave_one_out:
        plan.points += static_cast<int64_t>(all_heads(blocks).size());
        break;
      case Table::all_but_one:
        plan.points += with_heads;
        for (const BlockHeads& block : blocks)
          if (block.heads.size() > 1) plan.select_masks += block.count();
        break;
      case Table::layer_removed:
        plan.points += with_heads;
        break;
      case Table::layer_curve:
      case Table::kind_curve:
        plan_unit_curves(table, options, blocks, plan, curve_count(methods));
        break;
    }
  }
  return plan;
}

void run_sensitivity(const SensitivityOptions& options, const SensitivityInput& input) {
  const Blocks blocks = input.model.blocks();
  for (const Table table : tables_of(options)) {
    switch (table) {
      case Table::leave_one_out:
        leave_one_out(input, blocks);
        break;
      case Table::all_but_one:
        all_but_one(input, blocks);
        break;
      case Table::layer_removed:
        layer_removed(input, blocks);
        break;
      case Table::layer_curve:
      case Table::kind_curve:
        unit_curves(table, options, input, blocks);
        break;
    }
  }
}

}  // namespace headprune
