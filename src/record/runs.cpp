#include "record/runs.h"

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/open_file.h"
#include "core/process.h"
#include "core/text.h"

namespace headprune {
namespace {

bool is_run_folder(const fs::path& folder) {
  return fs::is_directory(folder) && (fs::exists(folder / kRunJson) || fs::exists(folder / kStatusJson));
}

void check_digest(const fs::path& path, const std::string& expected, std::vector<std::string>& problems) {
  const std::string name = path.filename().string();
  if (!fs::exists(path)) {
    problems.push_back(fmt::format("{} is missing", name));
  } else if (sha256_file(path) != expected) {
    problems.push_back(fmt::format("{} is not the file that the journal names: its SHA-256 differs", name));
  }
}

/// A folder with a manifest. One that is absent is no problem: copies without model/ and train/ are allowed, and old
/// checkpoints are deleted.
void check_folder(const fs::path& run_folder, const std::string& path, const std::string& manifest_sha256,
                  std::vector<std::string>& problems) {
  if (fs::path(path).is_absolute() || !fs::exists(run_folder / path)) return;
  const std::string problem = verify_manifest(run_folder / path);
  if (!problem.empty()) {
    problems.push_back(fmt::format("{}: {}", path, problem));
  } else if (sha256_file(run_folder / path / "manifest.json") != manifest_sha256) {
    problems.push_back(fmt::format("{}: its manifest.json is not the one that the journal names", path));
  }
}

std::vector<std::string> json_diff(const Json& a, const Json& b) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : a.items()) {
    const Json after = b.contains(key) ? b.at(key) : Json();
    if (value != after) lines.push_back(fmt::format("{}: {} -> {}", key, dump_json(value), dump_json(after)));
  }
  return lines;
}

}  // namespace

RunSummary summarize_run(const fs::path& run_folder) {
  if (!is_run_folder(run_folder)) {
    fail(ExitCode::usage, "{} is not a run folder: it has no {}", run_folder.string(), kRunJson);
  }
  RunSummary summary;
  summary.path = run_folder;
  summary.name = fs::absolute(run_folder).lexically_normal().filename().string();
  if (summary.name.empty())
    summary.name = fs::absolute(run_folder).lexically_normal().parent_path().filename().string();
  summary.state = to_string(RunState::queued);
  try {
    if (fs::exists(run_folder / kRunJson)) {
      const RunContext context = read_run_context(run_folder);
      summary.experiment_id = context.experiment_id;
      summary.created = context.created;
    }
    if (const std::optional<Status> status = read_status(run_folder)) {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      summary.state = shown_state(*status, std::chrono::duration<double>(now).count());
      summary.stage = status->stage;
      summary.points = status->points;
      summary.heartbeat = status->heartbeat;
      summary.reason = status->reason;
    }
  } catch (const Error& error) {
    summary.problem = error.what();
  } catch (const fs::filesystem_error& error) {
    summary.problem = system_problem(error)->what();
  }
  return summary;
}

namespace {

/// Nothing for what holds no run. What cannot be looked at is listed with the reason: it may be one.
std::optional<RunSummary> listed(const fs::path& path) {
  try {
    if (is_run_folder(path)) return summarize_run(path);
    return std::nullopt;
  } catch (const fs::filesystem_error& error) {
    RunSummary summary;
    summary.path = path;
    summary.name = path.filename().string();
    summary.state = "unknown";
    summary.problem = system_problem(error)->what();
    return summary;
  }
}

}  // namespace

std::vector<RunSummary> list_runs(const fs::path& dir) {
  if (!fs::is_directory(dir)) fail(ExitCode::usage, "{} is not a folder", dir.string());
  std::vector<RunSummary> runs;
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (std::optional<RunSummary> run = listed(entry.path())) runs.push_back(std::move(*run));
  }
  std::sort(runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) { return a.name < b.name; });
  return runs;
}

std::vector<std::string> verify_run(const fs::path& run_folder) {
  const Record record = read_record(run_folder);
  std::vector<std::string> problems;
  if (!record.run_sha256.empty()) check_digest(run_folder / kRunJson, record.run_sha256, problems);
  if (!record.config_sha256.empty()) check_digest(run_folder / kConfig, record.config_sha256, problems);
  for (const auto& [key, checkpoint] : record.checkpoints) {
    check_folder(run_folder, checkpoint.path, checkpoint.manifest_sha256, problems);
  }
  for (const auto& [seed, model] : record.models) {
    check_folder(run_folder, model.path, model.manifest_sha256, problems);
  }
  for (const auto& [id, point] : record.points) {
    if (!point.weights.empty()) check_folder(run_folder, point.weights, point.weights_manifest_sha256, problems);
    if (!point.samples_sha256.empty()) {
      check_digest(run_folder / kSamples / (id + ".jsonl"), point.samples_sha256, problems);
    }
    if (!point.examples_sha256.empty())
      check_digest(example_values_path(run_folder, point.examples_sha256), point.examples_sha256, problems);
  }
  return problems;
}

RunDifferences diff_runs(const fs::path& a, const fs::path& b) {
  const RunContext first = read_run_context(a), second = read_run_context(b);
  RunDifferences differences;
  differences.same_experiment = first.experiment_id == second.experiment_id;
  differences.config =
      config_diff(read_file_up_to(a / kConfig, kMaxJsonFile), read_file_up_to(b / kConfig, kMaxJsonFile));
  differences.inputs = inputs_diff(first.inputs, second.inputs);
  differences.fingerprint = fingerprint_diff(first.fingerprint, second.fingerprint);
  differences.tool = json_diff(first.tool, second.tool);
  return differences;
}

}  // namespace headprune
