#include "prune/sensitivity.h"

#include <algorithm>

namespace headprune {
namespace {

std::shared_ptr<const PruneRule> make_table(Table table, const SensitivityOptions& options) {
  switch (table) {
    case Table::leave_one_out:
      return leave_one_out(options);
    case Table::all_but_one:
      return all_but_one(options);
    case Table::layer_removed:
      return layer_removed(options);
    case Table::layer_curve:
    case Table::kind_curve:
      return unit_curve(table, options);
  }
  throw std::logic_error("make_table: unknown table");
}

}  // namespace

std::vector<NamedTable> make_tables(const SensitivityOptions& options) {
  std::vector<NamedTable> tables;
  for (const Table table : options.tables) {
    const std::string name = enum_name(table);
    const bool twice =
        std::any_of(tables.begin(), tables.end(), [&](const NamedTable& other) { return other.name == name; });
    if (!twice) tables.push_back({name, make_table(table, options)});
  }
  return tables;
}

BlockHeads without_fixed(const BlockHeads& block, const HeadSet& fixed, HeadUnit unit) {
  if (fixed.in_block(block.id).empty()) return block;
  BlockHeads left = block;
  std::erase_if(left.heads, [&](int64_t head) {
    const auto stays = [&](int64_t other) {
      const bool same = unit == HeadUnit::query ? other == head : block.group_of(other) == block.group_of(head);
      return same && fixed.contains({block.id, other});
    };
    return std::any_of(block.heads.begin(), block.heads.end(), stays);
  });
  return left;
}

Blocks without_fixed(const Blocks& blocks, const HeadSet& fixed, HeadUnit unit) {
  Blocks left;
  for (const BlockHeads& block : blocks) left.push_back(without_fixed(block, fixed, unit));
  return left;
}

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

HeadSet other_heads(const BlockHeads& block, int64_t kept, HeadUnit unit) {
  HeadSet removed;
  for (const int64_t head : block.heads)
    if ((unit == HeadUnit::query ? head : block.group_of(head)) != kept) removed.insert({block.id, head});
  return removed;
}

}  // namespace headprune
