// What the rules that learn gates have in common: options, one number for each unit that may go, and what is recorded
// of a head besides points.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "prune/ranking.h"
#include "record/analysis_events.h"
#include "train/gate_source.h"

namespace headprune {

struct GateOptions : UnitOptions {
  int64_t steps = 1000;
  double learning_rate = 0.05;

  template <class V>
  void fields(V& v) {
    v("kinds", kinds, "only these kinds of attention have gates, and fractions are of their heads; empty: all");
    v("unit", unit, "query (default): a gate a head; group: one for the heads that read one group's keys and values");
    v("steps", steps,
      "training steps of the gates, on batches as the section train has them (its defaults without one)", at_least(1));
    v("learning_rate", learning_rate, "of the gates: AdamW without decay, the same at every step", above(0));
    AllowedOptions::fields(v);
  }
};

struct LearnedOptions : GateOptions {
  bool train_weights = false;
  KeepModels keep_weights = KeepModels::none;

  template <class V>
  void fields(V& v) {
    GateOptions::fields(v);
    v("train_weights", train_weights,
      "false: the weights stay as they are, and no dropout is drawn; true: they are trained with the gates, as the "
      "section train says over these steps");
    v("keep_weights", keep_weights, "whether the trained models stay in the run folder, for `export`: none or all");
  }
  CrossProblems problems() const;
  /// What is planned of a point whose gates are learnt, and of its unit.
  void plan_training(Unit& its, PlannedPoint& point) const;
};

/// The one point of a unit, before its gates are learnt.
struct GatePoint {
  const Unit& unit;
  Model& model;
  RuleHost& host;

  /// "hard_concrete/lambda_0.1": of its training.
  std::string name() const { return unit.points.front().spec.sweep + "/" + unit.name; }
  /// "hard_concrete.lambda_0.1": of what is recorded of its heads.
  std::string label() const { return unit.points.front().spec.sweep + "." + unit.name; }
};
/// Learns the gates of `source`, in a copy of the model where its weights are trained, and evaluates the point there.
/// `settle` says which heads the gates remove.
void learn_point(const GatePoint& at, const LearnedOptions& options, GateSource& source,
                 const std::function<void(PlannedPoint&)>& settle);

/// The units that have a gate, in one vector.
class GateUnits {
 public:
  /// `fixed`: heads that may not go, which have no gate.
  GateUnits(const GateOptions& options, const Blocks& heads, const HeadSet& fixed = {});

  int64_t count() const { return static_cast<int64_t>(ids_.size()); }
  const OrderLimits& limits() const { return limits_; }
  const RankedUnits& units() const { return units_; }
  /// Of one number a unit [U], in the order kind, layer, unit, that of each head: [H] a block in the number's type,
  /// undefined for blocks without a gate; `elsewhere` at heads without. Gradients go through.
  PerBlock of_heads(const torch::Tensor& of_units, double elsewhere = 1) const;
  /// The same with units in the place of heads, 0 where there is no gate.
  PerBlock of_blocks(const torch::Tensor& of_units) const;
  /// The heads of the units at which `gone` [U] is true.
  HeadSet heads_at(const torch::Tensor& gone) const;
  const std::vector<HeadId>& ids() const { return ids_; }
  const Blocks& heads() const { return heads_; }

 private:
  Blocks heads_;
  RankedUnits units_;
  OrderLimits limits_;
  std::vector<HeadId> ids_;
  /// Where each unit or head of a block stands among the gates, behind their end where it has none; of heads undefined
  /// for a block without gates.
  PerBlock unit_places_, head_places_;
};

/// Numbers of one name, one a unit [U].
struct UnitColumn {
  std::string name;
  torch::Tensor values;
};

/// What a learning found of each head, under a name of its own beside the analyses; not a number at heads without a
/// gate.
struct LearnedHeads {
  AnalysisDone done;
  std::vector<AnalysisBlock> blocks;
};
/// `name`: "hard_concrete.lambda_0.01".
LearnedHeads learned_heads(const GateUnits& units, const std::string& name, const std::vector<UnitColumn>& columns);

}  // namespace headprune
