// What the journal says besides points: one struct for each event of docs/formats.md section 7. to_json() gives the
// fields beyond the envelope (v, seq, t, attempt, ev) in their order; from_json() reads them back and throws
// Error(run_failed) when one is missing or of another type.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/heads.h"
#include "core/json.h"

namespace headprune {

/// A number, or {"value":null,"nonfinite":"nan|inf|-inf"}.
Json measurement_json(double value);
double read_measurement(const Json& json);

/// The scores of one block; of a re-scoring inside a sweep where `sweep` is set.
struct ScoreBlock {
  int64_t seed = 0;
  std::string method;
  int64_t draw = 0;
  BlockId block;                               // kind, layer
  std::vector<int64_t> heads;                  // original ids
  std::vector<double> scores;                  // [heads], larger = keep
  std::vector<std::optional<double>> stderrs;  // [heads], or empty where the method has none
  int64_t n = 0;                               // examples
  std::string sweep;                           // label; empty for the intact model
  std::optional<int64_t> step;                 // with sweep
  /// [heads] from the examples of even and of odd index alone; empty where the method has none.
  std::array<std::vector<double>, 2> halves = {};

  Json to_json() const;
  static ScoreBlock from_json(const Json& json);
};

/// All blocks of a score are there.
struct ScoreDone {
  int64_t seed = 0;
  std::string method;
  int64_t draw = 0;
  std::string direction;  // "larger = keep", "smaller = keep, negated"
  int64_t ties = 0;
  int64_t examples = 0, forward = 0, backward = 0;
  double dur_s = 0;
  std::string sweep;
  std::optional<int64_t> step;

  Json to_json() const;
  static ScoreDone from_json(const Json& json);
};

struct StageStart {
  std::string stage;
  std::optional<int64_t> seed;  // absent for stages that all seeds share

  Json to_json() const;
  static StageStart from_json(const Json& json);
};

struct StageDone {
  std::string stage;
  std::optional<int64_t> seed;
  double dur_s = 0;
  int64_t forward = 0, backward = 0;

  Json to_json() const;
  static StageDone from_json(const Json& json);
};

/// A training checkpoint was written. `path` is relative to the run folder.
struct CheckpointEvent {
  int64_t seed = 0;
  int64_t step = 0;
  std::string path;
  std::string manifest_sha256;

  Json to_json() const;
  static CheckpointEvent from_json(const Json& json);
};

/// The model of a seed is final: trained to `step`, at `path` (absolute where it was only loaded).
struct ModelEvent {
  int64_t seed = 0;
  int64_t step = 0;
  std::string path;
  std::string manifest_sha256;

  Json to_json() const;
  static ModelEvent from_json(const Json& json);
};

struct PointFailed {
  std::string point;
  std::string reason;   // one word: "nonfinite", "no_such_step"
  std::string message;  // a sentence

  Json to_json() const;
  static PointFailed from_json(const Json& json);
};

struct PointSkipped {
  std::string point;
  std::string reason;

  Json to_json() const;
  static PointSkipped from_json(const Json& json);
};

/// Logits of the model with the heads removed for real against those with zero gates.
struct SurgeryResult {
  std::string point;
  double max_abs_diff = 0;
  double tolerance = 0;
  bool ok = false;

  Json to_json() const;
  static SurgeryResult from_json(const Json& json);
};

struct TimingResult {
  std::string point;
  std::string form;  // "intact", "masked", "removed"
  int64_t batch_size = 0;
  int64_t sequence_length = 0;
  int64_t warmup = 0;
  std::vector<double> seconds;  // one per repeat

  Json to_json() const;
  static TimingResult from_json(const Json& json);
};

struct Warning {
  std::string code;  // tied_scores, shared_splits, ...
  std::string message;

  auto operator<=>(const Warning&) const = default;
  Json to_json() const;
  static Warning from_json(const Json& json);
};

/// A signal stopped the run cleanly.
struct InterruptedEvent {
  std::string signal;  // "SIGINT"
  std::string stage;

  Json to_json() const;
  static InterruptedEvent from_json(const Json& json);
};

struct PointCounts {
  int64_t total = 0, done = 0, failed = 0, skipped = 0;

  bool operator==(const PointCounts&) const = default;
  Json to_json() const;
  static PointCounts from_json(const Json& json);
};

struct RunDone {
  std::string state;  // "completed", "partial", "failed"
  PointCounts points;
  double dur_s = 0;

  Json to_json() const;
  static RunDone from_json(const Json& json);
};

}  // namespace headprune
