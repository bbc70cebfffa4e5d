#include "train/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/error.h"

namespace headprune {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";

/// The step of a checkpoint folder's name, or nothing.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const begin = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size();
  int64_t step = 0;
  const auto [stopped, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || stopped != end || checkpoint_name(step) != name) return std::nullopt;
  return step;
}

}  // namespace

Json TrainState::to_json() const {
  return {{"global_step", global_step},
          {"epoch", epoch},
          {"max_steps", max_steps},
          {"best_metric", best_metric ? Json(*best_metric) : Json()},
          {"best_global_step", best_step},
          {"log_history", log_history},
          {"data_cursor", {{"epoch", cursor.epoch}, {"order_seed", cursor.order_seed}, {"index", cursor.index}}},
          {"evaluated_step", evaluated_step},
          {"evaluations_without_gain", without_gain},
          {"loss_sum", loss_sum},
          {"loss_steps", loss_steps},
          {"forward", forward},
          {"backward", backward},
          {"finished", finished}};
}

TrainState TrainState::from_json(const Json& json, const std::string& where) {
  try {
    TrainState state;
    json.at("global_step").get_to(state.global_step);
    json.at("epoch").get_to(state.epoch);
    json.at("max_steps").get_to(state.max_steps);
    if (!json.at("best_metric").is_null()) state.best_metric = json.at("best_metric").get<double>();
    json.at("best_global_step").get_to(state.best_step);
    state.log_history = json.at("log_history");
    const Json& cursor = json.at("data_cursor");
    cursor.at("epoch").get_to(state.cursor.epoch);
    cursor.at("order_seed").get_to(state.cursor.order_seed);
    cursor.at("index").get_to(state.cursor.index);
    json.at("evaluated_step").get_to(state.evaluated_step);
    json.at("evaluations_without_gain").get_to(state.without_gain);
    json.at("loss_sum").get_to(state.loss_sum);
    json.at("loss_steps").get_to(state.loss_steps);
    json.at("forward").get_to(state.forward);
    json.at("backward").get_to(state.backward);
    json.at("finished").get_to(state.finished);
    return state;
  } catch (const Json::exception& error) {
    fail(ExitCode::run_failed, "{}: not the state of a training: {}", where, error.what());
  }
}

std::string checkpoint_name(int64_t step) { return fmt::format("{}{:06}", kPrefix, step); }

std::vector<int64_t> checkpoint_steps(const fs::path& folder) {
  std::vector<int64_t> steps;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
    if (const auto step = step_of(entry.path().filename().string()); step && entry.is_directory())
      steps.push_back(*step);
  std::ranges::sort(steps);
  return steps;
}

std::string write_checkpoint(const fs::path& folder, const CheckpointContent& content) {
  const std::string name = checkpoint_name(content.state.global_step);
  FolderWriter writer(folder / name);
  if (content.model != nullptr) writer.write("model.safetensors", tensors_file(state(*content.model), {}));
  if (!content.gates.empty()) writer.write("gates.safetensors", tensors_file(content.gates, {}));
  writer.write("optimizer.safetensors", tensors_file(content.optimizer, {}));
  writer.write("rng.safetensors", tensors_file(content.generators, {}));
  writer.write("state.json", dump_json_file(content.state.to_json()));
  writer.write("config.yaml", content.config_yaml);
  if (!content.removed.empty()) writer.write("mask.json", dump_json_file(content.removed.to_json()));
  std::string manifest = writer.commit();
  write_file(folder / "latest", name + "\n");
  return manifest;
}

std::optional<fs::path> newest_checkpoint(const fs::path& folder, const std::function<void(const std::string&)>& warn) {
  if (!fs::is_directory(folder)) return std::nullopt;
  remove_temporaries(folder);
  std::vector<int64_t> steps = checkpoint_steps(folder);
  for (; !steps.empty(); steps.pop_back()) {
    const fs::path newest = folder / checkpoint_name(steps.back());
    const std::string problem = verify_manifest(newest);
    if (problem.empty()) return newest;
    warn(fmt::format("skipped the checkpoint {}: {}", newest.string(), problem));
  }
  return std::nullopt;
}

void retire_checkpoints(const fs::path& folder, const TrainState& state, int64_t limit) {
  if (state.best_step > 0 && fs::is_directory(folder / checkpoint_name(state.best_step)))
    write_file(folder / "best", checkpoint_name(state.best_step) + "\n");

  // Later steps are unverified leftovers that training skipped; they must not push good ones out.
  std::vector<int64_t> steps = checkpoint_steps(folder);
  std::erase_if(steps, [&](int64_t step) { return step > state.global_step; });
  if (std::ssize(steps) <= limit) return;
  if (!verify_manifest(folder / checkpoint_name(steps.back())).empty()) return;
  steps.resize(steps.size() - static_cast<size_t>(limit));
  for (const int64_t step : steps)
    if (step != state.best_step) fs::remove_all(folder / checkpoint_name(step));
}

}  // namespace headprune
