// Sensitivity tables (docs/definitions.md "Sensitivity tables"): what happens when one head, all but one, or a whole
// block goes.
//
// Points of a table have no sweep and no rule. Their specs:
//   leave_one_out  table kind layer head heads_removed=1           heads_total: of the model
//   all_but_one    table kind layer heads_removed=H-1              heads_total: of the block
//                  The head kept is not in the spec, because it is chosen only when the point is evaluated; it is the
//                  one head of the block that is not in `removed`.
//   layer_removed  table kind layer heads_removed=H                heads_total: of the block
//   layer_curve    table method draw kind layer heads_removed      heads_total: of the block
//   kind_curve     table method draw kind heads_removed            heads_total: of the kind
// Blocks without heads have no points.
#pragma once

#include <string>
#include <vector>

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

struct SensitivityOptions {
  std::vector<Table> tables;
  std::vector<std::string> methods;
  std::vector<double> fractions = {0.25, 0.5, 0.75, 1};

  template <class V>
  void fields(V& v) {
    v("tables", tables,
      "leave_one_out: each head alone; all_but_one: a block's heads but its best; layer_removed: a block's heads; "
      "layer_curve: growing fractions of a block's heads; kind_curve: of an attention kind's");
    v("methods", methods,
      "layer_curve, kind_curve: labels of the scores to rank by; empty: every score of the experiment");
    v("fractions", fractions, "layer_curve, kind_curve: fractions of the heads to remove", not_empty, between(0, 1));
  }
};

/// How a mask does on the select split.
struct SelectValue {
  double headline = 0;  // Task::chosen_by(), turned so that larger is better
  double loss = 0;      // the metric `loss`; breaks ties of the headline
};
struct SelectValues {
  std::vector<SelectValue> values;  // one for each mask asked about
  int64_t forward = 0;              // batches run, all masks together
};

/// What the tables may ask of the run. The first three are SweepHost's: one class can override both at once.
class SensitivityHost {
 public:
  virtual ~SensitivityHost() = default;
  virtual bool done(const PointSpec& spec) const = 0;
  virtual void evaluate(Model& model, const PlannedPoint& point) = 0;
  virtual Importance intact_scores(const std::string& method, int64_t draw) = 0;
  /// Evaluates masks of the intact model on the select split. Nothing is recorded: a point that was interrupted asks
  /// again, and the same model gives the same values.
  virtual SelectValues select(const std::vector<HeadSet>& masks) = 0;
};

struct SensitivityInput {
  int64_t seed = 0;
  Model& model;                      // intact
  std::vector<MethodDraws> methods;  // those that `options.methods` names, all known
  SensitivityHost& host;
};

/// What the tables would cost.
struct SensitivityPlan {
  int64_t points = 0;
  int64_t select_masks = 0;           // evaluations on the select split
  std::vector<std::string> messages;  // merged fractions
};
SensitivityPlan plan_sensitivity(const SensitivityOptions& options, const Blocks& blocks,
                                 const std::vector<MethodDraws>& methods);

/// Evaluates every point that the record lacks, table by table in the order asked for, blocks by kind and layer.
void run_sensitivity(const SensitivityOptions& options, const SensitivityInput& input);

}  // namespace headprune
