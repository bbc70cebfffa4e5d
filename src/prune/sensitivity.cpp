#include "prune/sensitivity.h"

#include <algorithm>

#include "prune/ranking.h"

namespace headprune {
namespace {

/// Blocks that have heads, each as a model of one block.
std::vector<Blocks> single_blocks(const Blocks& blocks) {
  std::vector<Blocks> result;
  for (const BlockHeads& block : blocks)
    if (!block.heads.empty()) result.push_back({block});
  return result;
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

void layer_curve(const SensitivityOptions& options, const SensitivityInput& input, const Blocks& blocks) {
  for (const MethodDraws& method : input.methods) {
    for (int64_t draw = 0; draw < method.draws; ++draw) {
      const Importance scores = input.host.intact_scores(method.label, draw);
      for (size_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].heads.empty()) continue;
        const Blocks block = {blocks[b]};
        const std::vector<HeadId> order = ascending_order(block, {scores.values[b]}, {}, {});
        int64_t step = 0;
        for (const RemovalTarget& target : removal_targets(options.fractions, block, {}).targets) {
          PlannedPoint point = block_point(Table::layer_curve, input.seed, blocks[b], target.heads);
          point.spec.method = method.label;
          point.spec.draw = draw;
          point.step = step++;
          point.removed = choose_heads(order, block, {}, target, {});
          if (target.heads > 0) point.forward = scores.forward, point.backward = scores.backward;
          evaluate_unless_done(input, point);
        }
      }
    }
  }
}

void plan_layer_curve(const SensitivityOptions& options, const Blocks& blocks, int64_t curves, SensitivityPlan& plan) {
  for (const Blocks& block : single_blocks(blocks)) {
    const TargetList list = removal_targets(options.fractions, block, {});
    plan.points += static_cast<int64_t>(list.targets.size()) * curves;
    for (const std::string& message : list.messages) {
      const std::string whole = "layer_curve: " + message;
      if (std::find(plan.messages.begin(), plan.messages.end(), whole) == plan.messages.end())
        plan.messages.push_back(whole);
    }
  }
}

}  // namespace

SensitivityPlan plan_sensitivity(const SensitivityOptions& options, const Blocks& blocks,
                                 const std::vector<MethodDraws>& methods) {
  SensitivityPlan plan;
  const auto with_heads = static_cast<int64_t>(single_blocks(blocks).size());
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
        plan_layer_curve(options, blocks, curve_count(methods), plan);
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
        layer_curve(options, input, blocks);
        break;
    }
  }
}

}  // namespace headprune
