// The interface of a pruning rule and of whoever receives its points. A rule knows no journal: it says which mask comes
// next, and asks the sink to evaluate it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "prune/order.h"
#include "record/point.h"
#include "score/score.h"

namespace headprune {

/// A mask to evaluate, with everything the record wants to know of it but the results.
struct PlannedPoint {
  PointSpec spec;
  int64_t step = 0;
  std::string scope;
  double fraction = 0;
  int64_t heads_total = 0;
  HeadSet removed;
  int64_t forward = 0, backward = 0;  // passes spent to get here: scoring and fine-tuning
  bool fine_tuned = false;            // weights differ from SweepInput::model's: never merged with an equal mask
  bool keep_weights = false;          // fine-tuned ones, so that the point can be exported
};

/// A training between two steps of a sweep.
struct FineTuning {
  int64_t steps = 0;
  /// The place of its checkpoint: a second call with the same name after an interrupt restores what the first one
  /// reached.
  std::string name;
  /// The one whose optimizer goes on, at a constant learning rate; empty: a fresh optimizer and the schedule of the
  /// section train over these steps.
  std::string goes_on_from = {};
};

/// What a rule may ask of the run.
class SweepHost {
 public:
  virtual ~SweepHost() = default;
  /// True when the record holds this point already; it need not be evaluated.
  virtual bool done(const PointSpec& spec) const = 0;
  /// Evaluates on the report split and records. Looks for a stop request first.
  virtual void evaluate(Model& model, const PlannedPoint& point) = 0;
  /// Scores of the model that the run ends with, computed in the score stage.
  virtual Importance intact_scores(const std::string& method, int64_t draw) = 0;
  /// Scores again with `removed` gone, under the model's present weights; recorded under (sweep, step).
  virtual Importance score_again(Model& model, const std::string& method, int64_t draw, const HeadSet& removed,
                                 const std::string& sweep, int64_t step) = 0;
  /// Trains `model` with the gates of `removed` fixed at 0. Returns {forward, backward}.
  virtual std::pair<int64_t, int64_t> fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) = 0;
};

struct MethodDraws {
  std::string label;
  int64_t draws = 1;
};

struct SweepInput {
  int64_t seed = 0;
  std::string sweep;  // label
  std::string rule;   // plug-in name
  Model& model;       // intact; a rule that trains works on a copy
  std::optional<int64_t> at_step =
      {};  // its weights are those after so many training steps: intact_scores() are of others
  std::vector<MethodDraws> methods;  // those the sweep asks for, all known
  SweepHost& host;
};

/// What a sweep would cost, known before any work: for `validate` and --dry-run.
struct SweepPlan {
  int64_t points = 0;
  int64_t scorings = 0;               // passes over the score split beyond the score stage
  int64_t train_steps = 0;            // fine-tuning steps in all
  int64_t kept_models = 0;            // points whose weights are kept
  std::vector<std::string> messages;  // merged fractions
};

class PruneRule {
 public:
  virtual ~PruneRule() = default;
  /// Labels of the methods this sweep ranks by; empty = all of score.methods.
  virtual std::vector<std::string> methods() const = 0;
  /// The training step whose weights the sweep is about; nothing: those that the run ends with.
  virtual std::optional<int64_t> at_step() const { return std::nullopt; }
  /// Throws Error(usage) when the options cannot be met by these blocks (names the largest fraction that can).
  virtual SweepPlan plan(const Blocks& blocks, const std::vector<MethodDraws>& methods) const = 0;
  virtual void run(const SweepInput& input) const = 0;
};

}  // namespace headprune
