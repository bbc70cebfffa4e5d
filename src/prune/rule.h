// A pruning rule: which masks are evaluated, in sweeps and in sensitivity tables alike. It says beforehand which points
// it will have, in units that do not depend on each other, and knows no journal: a host evaluates what it asks for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "model/grouping.h"
#include "prune/allowed.h"
#include "prune/order.h"
#include "record/point.h"
#include "score/score.h"
#include "train/gate_source.h"

namespace headprune {

struct PlannedPoint : Point {
  bool keep_weights = false;  // fine-tuned ones, so that the point can be exported
};

struct MethodDraws {
  std::string label;
  int64_t draws = 1;
  bool needs_data = true;  // false: its scores take no pass over the score split
  int64_t masks = 0;       // evaluations of it, at most, that a scoring takes besides
};

/// What a plan depends on.
struct RuleInput {
  int64_t seed = 0;
  std::string sweep;  // label; empty for a sensitivity table
  std::string rule;   // plug-in name; empty for a sensitivity table
  /// The weights are those after so many training steps, not those of the intact scores.
  std::optional<int64_t> at_step = {};
  Blocks blocks;  // of the intact model
  RoleHeads roles = {};
  std::vector<MethodDraws> methods;  // those that the rule asks for, all known
};

/// What one process evaluates, point after point: a curve, a block of a table. Units of a rule do not depend on each
/// other. Its costs count what an empty record leaves to do.
struct Unit {
  std::string name;  // "gradient_l1, draw 2", "encoder.L3"
  /// In order. Of an adaptive rule, or one that ranks by scores, `removed` and the passes are not known yet.
  std::vector<PlannedPoint> points;
  int64_t scorings = 0;      // passes over the score split beyond the score stage
  int64_t score_masks = 0;   // evaluations of it besides, at most
  int64_t select_masks = 0;  // evaluations on the select split
  int64_t train_steps = 0;   // of fine-tuning, and of learning gates
};

struct RulePlan {
  std::vector<Unit> units;
  std::vector<std::string> messages;  // merged fractions and the like

  int64_t points() const;
  int64_t scorings() const;
  int64_t score_masks() const;
  int64_t select_masks() const;
  int64_t train_steps() const;
  /// Whether it trains weights, which needs the section train.
  bool trains_weights() const;
  int64_t kept_models() const;  // points whose weights are kept
  void add(const std::vector<std::string>& more) { messages.insert(messages.end(), more.begin(), more.end()); }
};

/// A training between two points.
struct FineTuning {
  int64_t steps = 0;
  /// The place of its checkpoint: a second call with the same name after an interrupt restores what the first one
  /// reached.
  std::string name;
  /// The one whose optimizer goes on, at a constant learning rate; empty: a fresh optimizer and the schedule of the
  /// section train over these steps.
  std::string goes_on_from = {};
};

/// A training of gates on the train split, of the weights too where `gates` says so.
struct GateLearning {
  std::string name;  // as in FineTuning
  int64_t steps = 0;
  GateTraining gates;
};
struct LearnedHeads;  // prune/learned.h

/// How a mask does on the select split.
struct SelectValue {
  double headline = 0;  // Task::chosen_by(), turned so that larger is better
  double loss = 0;      // the metric `loss`; breaks ties of the headline

  bool better_than(const SelectValue& other) const {
    return headline != other.headline ? headline > other.headline : loss < other.loss;
  }
};
struct SelectValues {
  std::vector<SelectValue> values;  // one for each mask asked about
  int64_t forward = 0;              // batches run, all masks together
};

/// Which score of which model.
struct RankedBy {
  std::string method;
  int64_t draw = 0;
};
struct Rescoring : RankedBy {
  HeadSet removed;    // gone already
  std::string sweep;  // recorded under (sweep, step)
  int64_t step = 0;
};

/// What a rule may ask of the run.
class RuleHost {
 public:
  virtual ~RuleHost() = default;
  /// True when the record holds this point already.
  virtual bool done(const PointSpec& spec) const = 0;
  /// The points of this unit come next.
  virtual void begin(const Unit& unit) = 0;
  /// Evaluates on the report split and records; passes by a point that is done. Looks for a stop request first.
  virtual void evaluate(Model& model, const PlannedPoint& point) = 0;
  /// Scores of the model that the run ends with, computed in the score stage.
  virtual Importance intact_scores(const RankedBy& by) = 0;
  /// Scores under the model's present weights.
  virtual Importance score_again(Model& model, const Rescoring& how) = 0;
  /// Trains `model` with the gates of `removed` fixed at 0. Returns {forward, backward}.
  virtual std::pair<int64_t, int64_t> fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) = 0;
  /// Trains gates, and leaves them in their source. Returns {forward, backward}.
  virtual std::pair<int64_t, int64_t> learn_gates(Model& model, const GateLearning& how) = 0;
  /// The score split under the weights of `model`, for rules that look at it themselves. `removed` is kept by
  /// reference.
  virtual ScoreInput score_input(Model& model, const HeadSet& removed, HeadUnit unit) = 0;
  /// The steps that a training of so many takes: fewer under --smoke.
  virtual int64_t steps(int64_t wanted) const = 0;
  /// The seed of a named stream of this repetition.
  virtual uint64_t stream(const std::string& name) const = 0;
  /// Records what was found of each head. `found` names no seed.
  virtual void record(LearnedHeads found) = 0;
  /// A sentence for whoever reads the results; `code` is one word.
  virtual void warn(const std::string& code, const std::string& message) = 0;
  /// What is recorded of a point; nothing while it is not there.
  virtual std::optional<Point> recorded(const PointSpec& spec) const = 0;
  /// Evaluates masks of the intact model on the select split, each beyond the heads of `gone`, which all of them lack:
  /// what they share is computed once. Nothing is recorded: a point that was interrupted asks again, and the same model
  /// gives the same values.
  virtual SelectValues select(const HeadSet& gone, const std::vector<HeadSet>& masks) = 0;
  /// A copy of the intact model in so many key/value heads (model/grouping.h).
  virtual std::shared_ptr<Model> converted(int64_t groups, GroupInit init) = 0;
};

class PruneRule {
 public:
  virtual ~PruneRule() = default;
  /// Labels of the methods that it ranks by; empty = all of score.methods.
  virtual std::vector<std::string> methods() const { return {}; }
  /// The training step whose weights it is about; nothing: those that the run ends with.
  virtual std::optional<int64_t> at_step() const { return std::nullopt; }
  /// Whether it asks for the intact model in fewer groups, which not every family can be.
  virtual bool converts() const { return false; }
  /// Every point, before any work. Throws Error(usage) when the options cannot be met by these blocks (names the
  /// largest fraction that can).
  virtual RulePlan plan(const RuleInput& input) const = 0;
  /// Evaluates the points of a unit of its plan. Walks the same path on every call: the host returns what it stored of
  /// scores and weights, so that the first missing point is reached with the same model.
  virtual void run(const Unit& unit, Model& model, RuleHost& host) const = 0;
};

/// Runs the units of `plan` that have points left. `model` is intact; a rule that trains works on a copy.
void run_rule(const PruneRule& rule, const RulePlan& plan, Model& model, RuleHost& host);

}  // namespace headprune
