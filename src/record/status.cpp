#include "record/status.h"

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/open_file.h"
#include "core/text.h"
#include "record/journal.h"
#include "record/json_fields.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

constexpr double kStaleIntervals = 5;

}  // namespace

const char* to_string(RunState state) {
  switch (state) {
    case RunState::queued:
      return "queued";
    case RunState::running:
      return "running";
    case RunState::interrupted:
      return "interrupted";
    case RunState::failed:
      return "failed";
    case RunState::completed:
      return "completed";
    case RunState::partial:
      return "partial";
  }
  throw std::invalid_argument("to_string: unknown run state");
}

RunState parse_run_state(const std::string& text) {
  for (const RunState state : {RunState::queued, RunState::running, RunState::interrupted, RunState::failed,
                               RunState::completed, RunState::partial}) {
    if (text == to_string(state)) return state;
  }
  fail(ExitCode::run_failed, "'{}' is not the state of a run", text);
}

Json Status::to_json() const {
  return {{"schema_version", 1},
          {"state", to_string(state)},
          {"stage", stage},
          {"attempt", attempt},
          {"pid", process.pid},
          {"pid_start", process.pid_start},
          {"host", process.host},
          {"boot_id", process.boot_id},
          {"started", started},
          {"heartbeat", heartbeat},
          {"heartbeat_s", heartbeat_s},
          {"points", points.to_json()},
          {"eta_s", eta_s ? Json(*eta_s) : Json()},
          {"reason", reason.empty() ? Json() : Json(reason)}};
}

Status Status::from_json(const Json& json) {
  Status status;
  status.state = parse_run_state(read_field<std::string>(json, "state"));
  status.stage = read_field<std::string>(json, "stage");
  status.attempt = read_field<int64_t>(json, "attempt");
  status.process.pid = read_field<int64_t>(json, "pid");
  status.process.pid_start = read_field<std::string>(json, "pid_start");
  status.process.host = read_field<std::string>(json, "host");
  status.process.boot_id = read_field<std::string>(json, "boot_id");
  status.started = read_field<std::string>(json, "started");
  status.heartbeat = read_field<std::string>(json, "heartbeat");
  status.heartbeat_s = read_field<double>(json, "heartbeat_s");
  status.points = PointCounts::from_json(read_object(json, "points"));
  status.eta_s = read_optional<double>(json, "eta_s");
  status.reason = read_or<std::string>(json, "reason", "");
  return status;
}

std::optional<Status> read_status(const std::filesystem::path& run_folder) {
  const std::filesystem::path path = run_folder / kStatusJson;
  if (!std::filesystem::exists(path)) return std::nullopt;
  const Json json = read_json(path);
  try {
    return Status::from_json(json);
  } catch (const Error& error) {
    fail(error.code(), "{}: {}", path.string(), error.what());
  }
}

std::string shown_state(const Status& status, double now) {
  if (status.state != RunState::running) return to_string(status.state);
  const bool silent = now - unix_seconds(status.heartbeat) > kStaleIntervals * status.heartbeat_s;
  // A process of another host or boot counts as gone; of this one, a suspended process is silent but alive.
  return silent && !process_alive(status.process) ? "stale" : "running";
}

StatusFile::StatusFile(const std::filesystem::path& run_folder, int64_t attempt) : path_(run_folder / kStatusJson) {
  status_.attempt = attempt;
  status_.process = this_process();
  status_.started = utc_now();
  set_state(RunState::running);
}

void StatusFile::set_state(RunState state, const std::string& reason) {
  status_.state = state;
  status_.reason = reason;
  status_.heartbeat = utc_now();
  write_file(path_, dump_json_file(status_.to_json()));
  written_ = monotonic_seconds();
}

void StatusFile::set_stage(const std::string& stage) {
  status_.stage = stage;
  heartbeat();
}

void StatusFile::set_points(const PointCounts& points) {
  status_.points = points;
  heartbeat();
}

void StatusFile::set_eta(std::optional<double> seconds) {
  status_.eta_s = seconds;
  heartbeat();
}

void StatusFile::heartbeat() {
  const double now = monotonic_seconds();
  if (now - written_ < status_.heartbeat_s) return;
  written_ = now;
  status_.heartbeat = utc_now();
  try {
    write_file(path_, dump_json_file(status_.to_json()), Sync::no);
  } catch (const Error& error) {
    if (!warned_) log_warn("[record] {}", error.what());
    warned_ = true;
  }
}

}  // namespace headprune
