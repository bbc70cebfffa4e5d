// Everything that can be read back from the journal of a run.
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

#include "record/analysis_events.h"
#include "record/events.h"
#include "record/example_values.h"
#include "record/framed_log.h"
#include "record/point.h"
#include "record/run_facts.h"
#include "record/stage.h"

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
  bool to_do_again = false;
};

/// An analysis of one seed's model: its label.
struct AnalysisKey {
  int64_t seed = 0;
  std::string analysis;
  auto operator<=>(const AnalysisKey&) const = default;
};

/// An analysis as recorded, as RecordedScore.
struct RecordedAnalysis {
  std::map<BlockId, AnalysisBlock> blocks;
  std::vector<HeadMatrix> matrices;  // of all heads of the blocks
  std::optional<AnalysisDone> done;
  bool to_do_again = false;
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
  std::map<AnalysisKey, RecordedAnalysis> analyses;
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
  /// What an attempt was asked to do again and has not done yet (--from, --retry): points, models by seed, and points
  /// whose heads are to be removed for real and timed. It stands where it did until then, so that nothing is lost.
  std::set<std::string> points_again, surgery_again;
  std::set<int64_t> models_again;
  std::optional<InterruptedEvent> interrupted;         // of the last attempt
  std::optional<RunDone> done;                         // of the last attempt
  double dur_s = 0;                                    // summed over the attempts that ended by themselves
  std::shared_ptr<const ExampleValues> examples = {};  // of points, read when asked for; null without a run folder
  /// "queued" before the first attempt, "running" during one (or after a kill), "interrupted", or run_done's state.
  std::string state() const;

  /// The unpruned point of a point's seed and weights, which it is compared with; null while it is missing.
  const PointResult* base(const PointSpec& spec) const;
  /// Points begun and neither done, failed nor skipped: a kill or a signal came between.
  std::vector<std::string> interrupted_points() const;
  bool stage_done(const std::string& stage, std::optional<int64_t> seed) const;
  /// Whether a point need not be evaluated: it is done, or failed, and not asked for again.
  bool settled(const std::string& point) const {
    return (points.contains(point) || failed.contains(point)) && !points_again.contains(point);
  }
  /// A complete score that is not asked for again; null without.
  const RecordedScore* score(const ScoreKey& key) const;
  /// Whether an analysis is complete and not asked for again.
  bool analysed(const AnalysisKey& key) const;
  bool has_model(int64_t seed) const { return models.contains(seed) && !models_again.contains(seed); }
  /// The point that evaluated an equal mask on the same, not fine-tuned weights; null while there is none. The base
  /// serves no other: it is compared with nothing.
  const PointResult* evaluated(const PointResult& like) const;
};

/// A record that grows line by line.
class RecordBuilder {
 public:
  /// Throws Error(run_failed) for a gap in seq or a field of another type.
  void apply(const Json& line);
  /// As it stands: points with same_as have no metrics, and nothing is sorted or named for people.
  const Record& so_far() const { return record_; }
  /// What read_record() returns of the same lines, but for `examples`.
  Record finished() const;

 private:
  Record record_;
  std::string attempt_began_;
  std::map<int64_t, double> attempt_seconds_;
};

/// Of the lines of a journal; `path` is for errors.
RecordBuilder record_builder(const std::filesystem::path& path, const FramedLines& content);
/// The record that the lines of a journal make.
Record make_record(const std::filesystem::path& path, const FramedLines& content);

/// Reads journal.jsonl of a run folder. Throws Error(usage) when `run_folder` is no run folder and Error(run_failed)
/// for a bad line, a gap in seq or a field of another type, naming file and line.
Record read_record(const std::filesystem::path& run_folder);

/// Seconds since 1970 of a time as utc_now() prints it. Throws Error(run_failed) for another form.
double unix_seconds(const std::string& time);

}  // namespace headprune
