// status.json: where a run stands, for people and schedulers that look from outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "record/events.h"
#include "record/host.h"

namespace headprune {

enum class RunState { queued, running, interrupted, failed, completed, partial };
const char* to_string(RunState state);
/// Throws Error(run_failed) for another word.
RunState parse_run_state(const std::string& text);

struct Status {
  RunState state = RunState::queued;
  std::string stage;
  int64_t attempt = 0;
  ProcessId process;
  std::string started;    // of this attempt
  std::string heartbeat;  // of the last write
  double heartbeat_s = 5;
  PointCounts points;
  std::optional<double> eta_s;
  std::string reason;  // why it failed or was interrupted; empty otherwise

  Json to_json() const;
  static Status from_json(const Json& json);
};

/// Nothing where there is no status.json. Throws Error(run_failed) when it cannot be understood.
std::optional<Status> read_status(const std::filesystem::path& run_folder);

/// The state to show: "stale" for a running one whose heartbeat is older than 5 intervals at `now` (seconds since 1970)
/// and whose process, if it was on this host and boot, is gone.
std::string shown_state(const Status& status, double now);

/// Writes status.json: at once when the state changes, else at most every heartbeat_s seconds.
class StatusFile {
 public:
  /// Writes `running` for this process.
  StatusFile(const std::filesystem::path& run_folder, int64_t attempt);

  /// A new state is synced to the disk; throws Error(io).
  void set_state(RunState state, const std::string& reason = "");
  void set_stage(const std::string& stage);
  void set_points(const PointCounts& points);
  void set_eta(std::optional<double> seconds);
  /// Call between batches: writes when the last write is heartbeat_s old. A failure is logged once, not thrown.
  void heartbeat();
  const Status& status() const { return status_; }

 private:
  std::filesystem::path path_;
  Status status_;
  double written_ = 0;  // monotonic
  bool warned_ = false;
};

}  // namespace headprune
