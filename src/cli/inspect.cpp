#include <filesystem>
#include <memory>

#include "cli/cli.h"
#include "core/files.h"
#include "core/open_file.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "data/json_place.h"
#include "model/folder.h"
#include "record/journal.h"
#include "record/run_folder.h"
#include "record/runs.h"
#include "report/tables/runs_text.h"

namespace headprune {

namespace {

std::string inspect_safetensors(const fs::path& path) {
  const SafetensorsHeader header = read_safetensors_header(path);
  std::string text =
      fmt::format("safetensors file: {} tensors, {}\n", header.tensors.size(), bytes_text(fs::file_size(path)));
  for (const auto& [key, value] : header.metadata) text += fmt::format("  {} = {}\n", key, value);
  for (const TensorInfo& tensor : header.tensors)
    text += fmt::format("  {} {} [{}]\n", tensor.name, to_string(tensor.dtype), fmt::join(tensor.shape, ", "));
  return text;
}

std::string inspect_journal(const fs::path& path) {
  const Record record = read_record(fs::absolute(path).parent_path());
  return fmt::format(
      "journal: experiment {}, {} events in {} attempts, {} points, {} scores, state {}; every checksum holds\n",
      record.experiment_id, record.events, record.attempts, record.points.size(), record.scores.size(), record.state());
}

std::string inspect_folder(const fs::path& path) {
  if (fs::exists(path / kRunJson)) {
    const std::vector<std::string> wrong = verify_run(path);
    const std::string text = "run folder\n" + run_info_text(summarize_run(path), read_run_context(path), wrong);
    if (!wrong.empty()) fail(ExitCode::run_failed, "{} does not verify: {}", path.string(), join(wrong, "; "));
    return text;
  }
  if (!is_model_folder(path))
    fail(ExitCode::run_failed, "{} is neither a run folder (no run.json) nor a model folder (no config.json)",
         path.string());
  return "model folder\n" + join(summary_lines(summarise_model_folder(path)), "\n") + "\n";
}

/// What a JSON file is, by its keys.
std::string inspect_json(const fs::path& path) {
  const Json json = read_json(path);
  const JsonPlace file(json, path.string());
  const Json& object = file.object();
  if (object.contains("pruning") && object.contains("results")) {
    const std::string& state = file.at("state").text();
    const Json& curves = file.at("pruning").at("curves").array();
    const Json& sensitivity = file.at("pruning").at("sensitivity").array();
    return fmt::format("results file: state {}, {} curves, {} sensitivity entries\n", state, curves.size(),
                       sensitivity.size());
  }
  if (object.contains("fingerprint") && object.contains("config_files")) {
    const std::string& name = file.at("name").text();
    return fmt::format("context of a run: {}, created {}\n", name, file.at("created").text());
  }
  if (object.contains("heartbeat")) return fmt::format("status of a run: {}\n", file.at("state").text());
  if (object.contains("files") && object.contains("schema_version")) {
    const std::string wrong = verify_manifest(path.parent_path());
    if (!wrong.empty()) fail(ExitCode::run_failed, "{}: {}", path.string(), wrong);
    return fmt::format("manifest of {} files; every size and digest holds\n", json["files"].size());
  }
  fail(ExitCode::run_failed, "{} is a JSON file, but none that headprune writes", path.string());
}

std::string inspect_path(const fs::path& path) {
  if (!fs::exists(path)) fail(ExitCode::usage, "{} does not exist", path.string());
  if (fs::is_directory(path)) return inspect_folder(path);
  if (path.extension() == ".safetensors") return inspect_safetensors(path);
  const std::string start = read_start(path, 9);
  if (start.starts_with("{\"v\":") && path.filename() == kJournal) return inspect_journal(path);
  // A safetensors file under another name: eight bytes of length, which is not as large as text would make it, then the
  // header.
  if (start.size() == 9 && start[8] == '{' && start[7] == '\0') return inspect_safetensors(path);
  if (start.starts_with('{')) return inspect_json(path);
  fail(ExitCode::run_failed,
       "{} is of no kind that headprune knows (safetensors, model folder, run folder, journal.jsonl, results.json, "
       "run.json, status.json, manifest.json)",
       path.string());
}

}  // namespace

void add_inspect(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("inspect", "recognise a file or folder by its content, and verify it");
  auto path = std::make_shared<std::string>();
  command.add_option("PATH", *path, "safetensors file, model folder, run folder or a file of a run")->required();
  command.footer("Example:\n  headprune inspect runs/quickstart/model");
  command.callback([&line, path] {
    line.chosen = [path] {
      print_result(inspect_path(*path));
      return ExitCode::ok;
    };
  });
}

}  // namespace headprune
