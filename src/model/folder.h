// Model folders on disk: what one holds, read without its weights, and the whole model.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/transformer.h"

namespace headprune {

/// A model folder, without its weights.
struct ModelFolder {
  std::filesystem::path path;
  TransformerConfig config;  // sizes of the intact model
  HeadSet removed;
  /// The heads that the saved model has.
  Blocks blocks() const { return transformer_blocks(config, removed); }
};

/// Whether `path` looks like a model folder of any family: a folder with a config.json.
bool is_model_folder(const std::filesystem::path& path);

/// Reads config.json and looks for the weights. Throws Error: no such folder (usage); no config.json, a model_type that
/// is not supported, weights that are missing or only there as a pickle file, a damaged manifest (run_failed).
ModelFolder read_model_folder(const std::filesystem::path& path);

/// The model with its weights, in evaluation mode. Throws Error(run_failed) where tensors do not fit config.json.
std::shared_ptr<Transformer> load_model(const ModelFolder& folder, torch::Device device);

/// What `headprune inspect` shows of a model folder.
struct ModelSummary {
  ModelFolder folder;
  std::string model_type;
  int64_t parameters = 0, intact_parameters = 0;
  uint64_t bytes = 0;                           // of model.safetensors
  std::map<std::string, std::string> metadata;  // of model.safetensors
  bool has_vocabulary = false;
};
ModelSummary summarise_model_folder(const std::filesystem::path& path);
/// The summary for people, one line each, ending with the heads of every block.
std::vector<std::string> summary_lines(const ModelSummary& summary);

}  // namespace headprune
