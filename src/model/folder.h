// Model folders on disk: what one holds, read without its weights, and the whole model.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/family.h"
#include "model/hf_layout.h"
#include "model/transformer_model.h"

namespace headprune {

/// A model folder, without its weights.
struct ModelFolder {
  std::filesystem::path path;
  TransformerConfig config;  // sizes of the intact model
  HeadSet removed;
  HeadLayout stored;                // heads that config.json states: of an export maybe fewer than the intact model's
  HeadSet empty;                    // of those, the ones that are there and give nothing, their output columns being 0
  std::vector<std::string> labels;  // names of the classifier's outputs, as far as the folder says
  std::shared_ptr<const HfOrigin> origin;  // null for a folder of this program's own families
  std::string model_type() const;
  /// The heads that the saved model has.
  Blocks blocks() const { return transformer_blocks(config, removed); }
};

/// The outputs of the folder's classifier; none where it has none, or is no classifier.
ModelLabels classifier_labels(const ModelFolder& folder);

/// Whether `path` looks like a model folder of any family: a folder with a config.json.
bool is_model_folder(const std::filesystem::path& path);

/// Reads config.json and looks for the weights. `type`, as YAML's model.type, is what the model is where config.json
/// has no model_type. Throws Error: no such folder (usage); no config.json, a model_type that is not supported, weights
/// that are missing, quantised or only there in another form, a damaged manifest (run_failed).
ModelFolder read_model_folder(const std::filesystem::path& path, const std::string& type = "");

/// The files that make a loaded model what it is, for the run's record and hash: config.json, weights, tokenizer.
std::vector<InputFile> model_inputs(const std::filesystem::path& folder);

/// The model with its weights, in evaluation mode. Throws Error(run_failed) where tensors do not fit config.json.
std::shared_ptr<TransformerModel> load_model(const ModelFolder& folder, torch::Device device);
/// The weights of a folder that fits `model`, copied into it. Throws Error(run_failed).
void load_weights(const ModelFolder& folder, TransformerModel& model, bool new_task_head = false);

/// The model of a folder in training mode, checked to fit the data: tokens (a table of another tool's model may be
/// larger than the tokenizer: the log says so), labels, positions. Where the experiment trains, a checkpoint without a
/// task head, or with one for another number of labels, gets one, initialised from the seed. Throws Error(run_failed).
std::shared_ptr<TransformerModel> build_loaded(ModelFolder folder, const ModelInput& input);
/// The same without memory and values, from config.json and the headers of the weights.
std::shared_ptr<TransformerModel> outline_loaded(ModelFolder folder, const ModelInput& input);
/// The sizes of the folder's model, with how many of its heads are gone.
Json sizes_json(const ModelFolder& folder);

/// What `headprune inspect` shows of a model folder.
struct ModelSummary {
  ModelFolder folder;
  int64_t parameters = 0, intact_parameters = 0;
  uint64_t bytes = 0;                           // of the weights
  std::map<std::string, std::string> metadata;  // of model.safetensors
  bool has_tokenizer = false;
};
ModelSummary summarise_model_folder(const std::filesystem::path& path, const std::string& type = "");
/// The summary for people, one line each, ending with the heads of every block.
std::vector<std::string> summary_lines(const ModelSummary& summary);

}  // namespace headprune
