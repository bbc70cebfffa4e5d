// Sensitivity tables (docs/definitions.md "Sensitivity tables"): what happens when one head, all but one, or a whole
// block goes. Each is a rule whose points have no sweep.
//
//   leave_one_out  table kind layer head heads_removed=1           heads_total: of the model; with unit: group, `group`
//                  in the place of `head`, and heads_removed are its heads
//   all_but_one    table kind layer heads_removed=H-1              heads_total: of the block
//                  The head (or group) kept is not in the spec, because it is chosen only when the point is evaluated;
//                  it is the one head of the block that is not in `removed`.
//   layer_removed  table kind layer heads_removed=H                heads_total: of the block
//   layer_curve    table method draw kind layer heads_removed      heads_total: of the block
//   kind_curve     table method draw kind heads_removed            heads_total: of the kind
// Blocks without heads that may go have no points, and heads_total counts no others where it is of a block or kind.
// What a table's points have says how it is shown (PointSpec::shown()).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "prune/allowed.h"
#include "prune/rule.h"

namespace headprune {

enum class Table { leave_one_out, all_but_one, layer_removed, layer_curve, kind_curve };
template <>
struct EnumNames<Table> {
  static constexpr std::pair<const char*, Table> names[] = {{"leave_one_out", Table::leave_one_out},
                                                            {"all_but_one", Table::all_but_one},
                                                            {"layer_removed", Table::layer_removed},
                                                            {"layer_curve", Table::layer_curve},
                                                            {"kind_curve", Table::kind_curve}};
};

struct SensitivityOptions : AllowedOptions {
  std::vector<Table> tables;
  std::vector<std::string> methods;
  std::vector<double> fractions = {0.25, 0.5, 0.75, 1};
  std::optional<std::vector<int64_t>> heads;
  std::optional<HeadUnit> unit;

  template <class V>
  void fields(V& v) {
    v("tables", tables,
      "leave_one_out: each head alone; all_but_one: a block's heads but its best; layer_removed: a block's heads; "
      "layer_curve: growing fractions of a block's heads; kind_curve: of an attention kind's");
    v("methods", methods,
      "layer_curve, kind_curve: labels of the scores to rank by; empty: every score of the experiment");
    v("fractions", fractions, "layer_curve, kind_curve: fractions of the heads that may go", between(0, 1));
    v("heads", heads, "layer_curve, kind_curve: numbers of heads to remove, beside the fractions", at_least(0));
    v("unit", unit,
      "query (default): heads; group: in each table the heads that read one group's keys and values count as one head");
    AllowedOptions::fields(v);
  }
  CrossProblems problems() const {
    if (!fractions.empty() || heads) return {};
    return {{"fractions", "must not be empty without `heads`"}};
  }
  HeadUnit head_unit() const { return unit.value_or(HeadUnit::query); }
};

struct NamedTable {
  std::string name;
  std::shared_ptr<const PruneRule> rule;
};
/// The tables asked for, each once, in order.
std::vector<NamedTable> make_tables(const SensitivityOptions& options);

// One table each, beside it its file.
std::shared_ptr<const PruneRule> leave_one_out(const SensitivityOptions& options);
std::shared_ptr<const PruneRule> all_but_one(const SensitivityOptions& options);
std::shared_ptr<const PruneRule> layer_removed(const SensitivityOptions& options);
/// layer_curve or kind_curve.
std::shared_ptr<const PruneRule> unit_curve(Table table, const SensitivityOptions& options);

/// A block without the heads, or whole groups, that may not go.
BlockHeads without_fixed(const BlockHeads& block, const HeadSet& fixed, HeadUnit unit);
/// The same of all blocks.
Blocks without_fixed(const Blocks& blocks, const HeadSet& fixed, HeadUnit unit);

/// A point of `table` that belongs to one block, of which `block` are the heads that may go.
PlannedPoint block_point(Table table, int64_t seed, const BlockHeads& block, int64_t heads_removed);
/// The block's heads but those of the unit `kept` (-1: none).
HeadSet other_heads(const BlockHeads& block, int64_t kept, HeadUnit unit = HeadUnit::query);

}  // namespace headprune
