// journal.jsonl: the truth about a run. Its lines make the record, which grows with them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "record/record.h"

namespace headprune {

/// The writer. Lines that change the state are on the disk when the call returns, in the file at the path: they throw
/// as require_in_place().
class Journal {
 public:
  /// Creates journal.jsonl or continues it: the torn tail is cut off and the attempt is one more than the last. Nothing
  /// is written until run_start().
  explicit Journal(const std::filesystem::path& run_folder);

  /// What was recorded so far, by this attempt and those before it.
  const Record& record() const { return builder_.so_far(); }
  /// The same as read_record() of the run folder gives it now. Throws Error(io) where journal.jsonl is not there any
  /// more.
  Record finished_record() const;
  /// Throws Error(io) where journal.jsonl was deleted, moved or replaced.
  void require_in_place() const { log_.require_in_place(); }
  /// From 1.
  int64_t attempt() const { return attempt_; }

  /// Must come first: run_start in the first attempt, resumed in later ones.
  void run_start(const std::string& experiment_id, const std::string& run_sha256);
  /// What `stage` and those after it recorded is to be done again.
  void start_from(Stage stage);
  /// So are points that failed.
  void retry_failed();
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
  void analysis(const AnalysisBlock& event);
  void analysis_row(const MatrixRow& event);
  void analysis_done(const AnalysisDone& event);
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

  std::filesystem::path folder_;
  FramedLog log_;  // fills the constructor's `content`, which builder_ starts from
  RecordBuilder builder_;
  int64_t attempt_ = 1;
};

}  // namespace headprune
