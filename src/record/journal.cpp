#include "record/journal.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "record/host.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

constexpr size_t kMaxMessage = 8000;  // bytes; keeps a line within kMaxFramedLine even when every byte is escaped

std::string shortened(const std::string& text) {
  if (text.size() <= kMaxMessage) return text;
  return text.substr(0, kMaxMessage) + " ...";
}

}  // namespace

Journal::Journal(const std::filesystem::path& run_folder) : Journal(run_folder, FramedLines()) {}

Journal::Journal(const std::filesystem::path& run_folder, FramedLines content)
    : folder_(run_folder),
      log_(run_folder / kJournal, &content),
      builder_(record_builder(run_folder / kJournal, content)),
      attempt_(record().attempts + 1) {}

void Journal::append(const char* ev, const Json& fields, Durable durable) {
  Json line = {{"v", 1}, {"seq", record().events + 1}, {"t", utc_now()}, {"attempt", attempt_}, {"ev", ev}};
  line.update(fields);
  log_.append(line, durable);
  builder_.apply(line);
  // The line stands where the file is now, and counts in whatever is written there to the end.
  if (durable == Durable::yes) require_in_place();
}

Record Journal::finished_record() const {
  require_in_place();
  Record record = builder_.finished();
  record.examples = std::make_shared<const ExampleValues>(folder_);
  return record;
}

void Journal::run_start(const std::string& experiment_id, const std::string& run_sha256) {
  const ProcessId process = this_process();
  Json fields = {{"experiment_id", experiment_id},
                 {"tool", tool_info().to_json()},
                 {"pid", process.pid},
                 {"host", process.host},
                 {"sha256", run_sha256}};
  if (attempt_ == 1) {
    append("run_start", fields, Durable::yes);
  } else {
    fields["from_seq"] = record().events;
    append("resumed", fields, Durable::yes);
  }
}

void Journal::start_from(Stage stage) { append("from", {{"stage", to_string(stage)}}, Durable::no); }

void Journal::retry_failed() { append("retry_failed", Json::object(), Durable::no); }

void Journal::env(const Json& fingerprint) { append("env", {{"fingerprint", fingerprint}}, Durable::no); }

void Journal::config(const std::string& config_sha256) { append("config", {{"sha256", config_sha256}}, Durable::no); }

void Journal::facts(const RunFacts& event) {
  const Json fields = event.to_json();
  if (record().facts && record().facts->to_json() == fields) return;
  append("facts", {{"facts", fields}}, Durable::no);
}

void Journal::stage_start(const StageStart& event) {
  append("stage_start", event.to_json(), Durable::no);
  require_in_place();
}

void Journal::stage_done(const StageDone& event) { append("stage_done", event.to_json(), Durable::yes); }

void Journal::checkpoint(const CheckpointEvent& event) { append("checkpoint", event.to_json(), Durable::yes); }

void Journal::model(const ModelEvent& event) { append("model", event.to_json(), Durable::yes); }

void Journal::score(const ScoreBlock& event) { append("score", event.to_json(), Durable::no); }

void Journal::score_done(const ScoreDone& event) { append("score_done", event.to_json(), Durable::yes); }

void Journal::analysis(const AnalysisBlock& event) { append("analysis", event.to_json(), Durable::no); }

void Journal::analysis_row(const MatrixRow& event) { append("analysis_row", event.to_json(), Durable::no); }

void Journal::analysis_done(const AnalysisDone& event) { append("analysis_done", event.to_json(), Durable::yes); }

void Journal::point_start(const std::string& point, const PointSpec& spec) {
  append("point_start", {{"point", point}, {"spec", spec.to_json()}}, Durable::no);
}

void Journal::point_done(const PointResult& result) { append("point_done", result.to_json(), Durable::yes); }

void Journal::point_failed(const PointFailed& event) {
  append("point_failed", PointFailed{event.point, event.reason, shortened(event.message)}.to_json(), Durable::yes);
}

void Journal::point_skipped(const PointSkipped& event) { append("point_skipped", event.to_json(), Durable::yes); }

void Journal::surgery(const SurgeryResult& event) { append("surgery", event.to_json(), Durable::yes); }

void Journal::timing(const TimingResult& event) { append("timing", event.to_json(), Durable::yes); }

void Journal::warn(const Warning& warning) {
  const Warning kept{warning.code, shortened(warning.message)};
  const std::vector<Warning>& known = record().warnings;
  if (std::find(known.begin(), known.end(), kept) != known.end()) return;
  append("warn", kept.to_json(), Durable::no);
}

void Journal::interrupted(const InterruptedEvent& event) { append("interrupted", event.to_json(), Durable::yes); }

void Journal::run_done(const RunDone& event) { append("run_done", event.to_json(), Durable::yes); }

}  // namespace headprune
