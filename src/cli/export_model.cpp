#include "cli/export.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/text.h"
#include "model/export.h"
#include "record/journal.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

/// The point that `prefix` names, by its id or the beginning of it.
const PointResult& find_point(const Record& record, const std::string& prefix) {
  const PointResult* found = nullptr;
  for (const auto& [id, point] : record.points) {
    if (id == prefix) return point;
    if (id.rfind(prefix, 0) != 0) continue;
    if (found) fail(ExitCode::usage, "{} begins the ids of several points; give more of it", prefix);
    found = &point;
  }
  if (!found) fail(ExitCode::usage, "the run has no point {}; ids stand in curve.csv and sensitivity.csv", prefix);
  return *found;
}

/// Where the weights of a seed lie: inside the run folder when it trained them.
fs::path model_of(const fs::path& run, const Record& record, int64_t seed) {
  const auto model = record.models.find(seed);
  if (model == record.models.end())
    fail(ExitCode::run_failed, "{}: no model of seed {} was finished; run the experiment again", run.string(), seed);
  const fs::path path = model->second.path;
  return path.is_absolute() ? path : run / path;
}

/// The model folder of a point that was trained on after pruning, or is about an earlier training step.
fs::path own_weights_of(const fs::path& run, const PointResult& point) {
  if (point.fine_tuned && point.weights.empty())
    fail(ExitCode::run_failed,
         "point {} was evaluated on weights of its own, and those were not kept with it; set keep_weights: all in the "
         "sweep {} and run again, or export a point of a one_shot sweep",
         point.point, point.spec.sweep);
  fs::path folder =
      run / (point.fine_tuned ? fs::path(point.weights) : step_folder(point.spec.seed, *point.spec.at_step));
  if (!fs::exists(folder))
    fail(ExitCode::run_failed, "{} is gone: the weights of point {} were kept there", folder.string(), point.point);
  return folder;
}

/// A model that the run loaded must still be what it was.
void require_unchanged(const Json& inputs) {
  for (const Json& input : inputs) {
    if (!input.at("role").get<std::string>().starts_with("model.")) continue;
    const fs::path file = input.at("path").get<std::string>();
    if (!fs::exists(file) || sha256_file(file) != input.at("sha256"))
      fail(ExitCode::run_failed, "{} is not the file that the run loaded; put that back", file.string());
  }
}

}  // namespace

ExitCode export_model_of(const CommandLine& line, const ExportArguments& arguments) {
  if (arguments.point.empty())
    fail(ExitCode::usage, "which point of the run? give --point ID (ids stand in curve.csv and sensitivity.csv)");
  const fs::path run = arguments.run;
  if (!fs::exists(run / kRunJson)) fail(ExitCode::usage, "{} is not a run folder (no run.json)", run.string());
  const Record record = read_record(run);
  const PointResult& point = find_point(record, arguments.point);
  const bool own = point.fine_tuned || point.spec.at_step;
  const fs::path model = own ? own_weights_of(run, point) : model_of(run, record, point.spec.seed);
  if (model.is_absolute()) require_unchanged(read_run_context(run).inputs);
  const ExportForm form = enum_value<ExportForm>(arguments.form).value_or(ExportForm::compact);
  const ExportResult result = export_model({.model = model,
                                            .removed = point.removed,
                                            .form = form,
                                            .target = arguments.to,
                                            .metadata = {{"headprune.experiment_id", record.experiment_id},
                                                         {"headprune.point", point.point},
                                                         {"headprune.mask_sha256", point.mask}},
                                            .type = record.facts ? record.facts->model : ""});
  if (line.common.json) {
    print_result(dump_json_file({{"folder", arguments.to},
                                 {"point", point.point},
                                 {"form", enum_name(form)},
                                 {"heads", result.heads},
                                 {"intact_heads", result.intact_heads},
                                 {"params", result.parameters},
                                 {"intact_params", result.intact_parameters},
                                 {"max_abs_diff", result.max_abs_diff},
                                 {"texts", result.texts},
                                 {"notes", result.notes}}));
    return ExitCode::ok;
  }
  std::string text =
      fmt::format("{}: {} of {} heads, {} of {} parameters; read back, logits differ by at most {:.2g}\n", arguments.to,
                  result.heads, result.intact_heads, result.parameters, result.intact_parameters, result.max_abs_diff);
  if (result.texts > 0) text += fmt::format("it writes the same {} texts, token by token\n", result.texts);
  for (const std::string& note : result.notes) text += note + "\n";
  print_result(text);
  return ExitCode::ok;
}

}  // namespace headprune
