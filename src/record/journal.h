// journal.jsonl: the truth about a run, and everything that can be read back from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "record/events.h"
#include "record/example_values.h"
#include "record/framed_log.h"
#include "record/point.h"
#include "record/run_facts.h"

namespace headprune {

/// A score: seed, method, draw, and the sweep and step of a re-scoring ("" and -1 for the intact model).
struct ScoreKey {
  int64_t seed = 0;
  std::string method;
  int64_t draw = 0;
  std::string sweep = {};
  int64_t step = -1;
  auto operator<=>(const ScoreKey&) const = default;
};

/// A score as recorded. `blocks` ascend by kind and layer; `done` is absent while blocks may be missing.
struct RecordedScore {
  std::map<BlockId, ScoreBlock> blocks;
  std::optional<ScoreDone> done;
};

/// Everything a journal says, attempts merged: the later event for the same thing wins. Maps are sorted, so views of
/// an interrupted and continued run equal those of an uninterrupted one.
struct Record {
  std::string experiment_id;  // empty while nothing was recorded
  Json tool;                  // of the last attempt
  std::string host;
  std::string started;  // time of the first event
  std::string ended;    // time of the last event
  int64_t attempts = 0;
  int64_t events = 0;              // = seq of the last one
  Json fingerprint;                // of the last attempt
  bool mixed_fingerprint = false;  // attempts differ in compared fields
  std::string config_sha256;
  std::string run_sha256;
  std::optional<RunFacts> facts;  // of the last attempt; absent before the data stage of the first

  std::map<ScoreKey, RecordedScore> scores;
  std::map<std::string, PointResult> points;  // done, by id; metrics filled in where same_as is set
  std::set<std::string> unpruned;             // ids of those without a removed head, which others are compared with
  std::map<std::string, PointSpec> started_points;  // every point begun so far, by id
  std::map<std::string, PointFailed> failed;        // and not done since
  std::map<std::string, PointSkipped> skipped;      // and not done since
  std::map<std::string, SurgeryResult> surgery;     // by point
  std::map<std::tuple<std::string, std::string, int64_t, int64_t>, TimingResult> timing;  // point, form, batch, length
  std::vector<Warning> warnings;                                                          // without repetitions, sorted
  std::map<std::pair<std::string, int64_t>, StageDone> stages;                            // stage, seed (-1 without)
  std::map<std::pair<int64_t, int64_t>, CheckpointEvent> checkpoints;                     // seed, step
  std::map<int64_t, ModelEvent> models;                                                   // by seed
  std::optional<InterruptedEvent> interrupted;                                            // of the last attempt
  std::optional<RunDone> done;                                                            // of the last attempt
  double dur_s = 0;                                    // summed over the attempts that ended by themselves
  std::shared_ptr<const ExampleValues> examples = {};  // of points, read when asked for; null without a run folder
  /// "queued" before the first attempt, "running" during one (or after a kill), "interrupted", or run_done's state.
  std::string state() const;

  /// The unpruned point of a point's seed and weights, which it is compared with; null while it is missing.
  const PointResult* base(const PointSpec& spec) const;
  /// Points begun and neither done, failed nor skipped: a kill or a signal came between.
  std::vector<std::string> interrupted_points() const;
  bool stage_done(const std::string& stage, std::optional<int64_t> seed) const;
};

/// The record that the lines of a journal make; `path` is for errors.
Record make_record(const std::filesystem::path& path, const FramedLines& content);

/// Reads journal.jsonl of a run folder. Throws Error(usage) when `run_folder` is no run folder and Error(run_failed)
/// for a bad line, a gap in seq or a field of another type, naming file and line.
Record read_record(const std::filesystem::path& run_folder);

/// Seconds since 1970 of a time as utc_now() prints it. Throws Error(run_failed) for another form.
double unix_seconds(const std::string& time);

/// The writer. Lines that change the state are on the disk when the call returns.
class Journal {
 public:
  /// Creates journal.jsonl or continues it: the torn tail is cut off and the attempt is one more than the last. Nothing
  /// is written until run_start().
  explicit Journal(const std::filesystem::path& run_folder);

  /// What was recorded before this attempt.
  const Record& before() const { return before_; }
  /// From 1.
  int64_t attempt() const { return attempt_; }

  /// Must come first: run_start in the first attempt, resumed in later ones.
  void run_start(const std::string& experiment_id, const std::string& run_sha256);
  void env(const Json& fingerprint);
  void config(const std::string& config_sha256);
  /// Before the first point of an attempt; not written again when equal to what is recorded.
  void facts(const RunFacts& event);
  void stage_start(const StageStart& event);
  void stage_done(const StageDone& event);
  void checkpoint(const CheckpointEvent& event);
  void model(const ModelEvent& event);
  void score(const ScoreBlock& event);
  void score_done(const ScoreDone& event);
  void point_start(const std::string& point, const PointSpec& spec);
  void point_done(const PointResult& result);
  void point_failed(const PointFailed& event);
  void point_skipped(const PointSkipped& event);
  void surgery(const SurgeryResult& event);
  void timing(const TimingResult& event);
  /// The same warning is written once a run, whatever the number of attempts.
  void warn(const Warning& warning);
  void interrupted(const InterruptedEvent& event);
  void run_done(const RunDone& event);

 private:
  Journal(const std::filesystem::path& run_folder, FramedLines content);
  void append(const char* ev, const Json& fields, Durable durable);

  FramedLog log_;  // fills the constructor's `content`, which before_ is made of
  Record before_;
  int64_t attempt_ = 1;
  int64_t seq_ = 0;
  std::set<Warning> warned_;
};

}  // namespace headprune
