#include "model/folder.h"

#include "config/dump.h"
#include "core/error.h"
#include "core/files.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "model/checkpoint.h"

namespace headprune {
namespace {

/// The name of a pickle file in the folder, or "".
std::string pickle_in(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".bin" || ending == ".pt" || ending == ".pth" || ending == ".ckpt")
      return entry.path().filename().string();
  }
  return "";
}

void require_weights(const fs::path& folder) {
  if (fs::exists(folder / "model.safetensors")) return;
  if (const std::string pickle = pickle_in(folder); !pickle.empty())
    fail(ExitCode::run_failed,
         "{}: {} is a pickle file, which is never loaded because it can run code; convert it where you trust it: "
         "python3 -c \"import torch, safetensors.torch as s; s.save_file(torch.load('{}', weights_only=True), "
         "'model.safetensors')\"",
         folder.string(), pickle, pickle);
  fail(ExitCode::run_failed, "{}: model.safetensors is missing; give the folder of a saved model", folder.string());
}

}  // namespace

bool is_model_folder(const fs::path& path) { return fs::is_regular_file(path / "config.json"); }

ModelFolder read_model_folder(const fs::path& path) {
  if (!fs::is_directory(path))
    fail(ExitCode::usage, "{} is not a folder; give the folder of a saved model", path.string());
  if (!is_model_folder(path))
    fail(ExitCode::run_failed, "{} has no config.json; give the folder of a saved model, such as RUN/model",
         path.string());
  const std::string where = (path / "config.json").string();
  const Json json = parse_json(read_file(path / "config.json"), where);
  ModelFolder folder{.path = path, .config = config_from_json(json, where), .removed = {}};
  folder.removed = removed_from_json(json, folder.config, where);
  require_weights(path);
  if (fs::exists(path / "manifest.json"))
    if (const std::string problem = verify_manifest(path); !problem.empty())
      fail(ExitCode::run_failed, "{}: {}", path.string(), problem);
  return folder;
}

std::shared_ptr<Transformer> load_model(const ModelFolder& folder, torch::Device device) {
  const fs::path file = folder.path / "model.safetensors";
  const auto model = std::make_shared<Transformer>(folder.config, folder.removed);
  load_state(*model, read_tensors(file), file.string());
  model->to(device);
  model->eval();
  return model;
}

ModelSummary summarise_model_folder(const fs::path& path) {
  ModelSummary summary{.folder = read_model_folder(path), .model_type = {}, .metadata = {}};
  const fs::path file = path / "model.safetensors";
  const SafetensorsHeader header = read_safetensors_header(file);
  for (const TensorInfo& tensor : header.tensors) {
    int64_t count = 1;
    for (const int64_t size : tensor.shape) count *= size;
    summary.parameters += count;
  }
  summary.model_type = model_type(summary.folder.config.kind);
  summary.intact_parameters = parameter_count(summary.folder.config);
  summary.bytes = fs::file_size(file);
  summary.metadata = header.metadata;
  summary.has_vocabulary = fs::exists(path / "vocabulary.json");
  return summary;
}

std::vector<std::string> summary_lines(const ModelSummary& summary) {
  const TransformerConfig& config = summary.folder.config;
  std::vector<std::string> lines = {fmt::format("model_type: {}", summary.model_type)};
  const Json sizes = config_json(config);  // named: items() would outlive a temporary
  for (const auto& [key, value] : sizes.items())
    lines.push_back(fmt::format("{}: {}", key, value.is_string() ? value.get<std::string>() : dump_json(value)));
  lines.push_back(fmt::format("parameters: {} (intact: {})", summary.parameters, summary.intact_parameters));
  lines.push_back(fmt::format("weights: {}, vocabulary: {}", bytes_text(summary.bytes),
                              summary.has_vocabulary ? "saved with the model" : "none"));
  for (const auto& [key, value] : summary.metadata) lines.push_back(fmt::format("{}: {}", key, value));
  for (const BlockHeads& block : summary.folder.blocks())
    lines.push_back(fmt::format("{}: {} of {} heads: {}", to_string(block.id), block.heads.size(), config.heads,
                                block.heads.empty() ? "none" : fmt::format("{}", fmt::join(block.heads, " "))));
  return lines;
}

}  // namespace headprune
