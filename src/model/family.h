// The interface of a model family: one .cpp a family, registered under the name that YAML's model.type uses.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "data/source.h"
#include "model/transformer_model.h"

namespace headprune {

/// What a model must fit; known once data is read.
struct ModelInput {
  int64_t vocabulary_size = 0;
  int64_t target_vocabulary_size = 0;    // translation with a vocabulary of its own for the target; else 0
  int64_t outputs = 0;                   // classification: labels, 2 or more; regression: 1; others: 0
  std::vector<std::string> labels = {};  // their names, one an output, where they are known
  bool trains = false;                   // a loaded model gets a new task head where it has none of that size
  int64_t max_length = 0;                // longest sequence
  uint64_t seed = 0;                     // of initialisation and dropout
  torch::Device device = torch::kCPU;
};

class ModelFamily {
 public:
  virtual ~ModelFamily() = default;
  /// Whether this family can predict what data of this kind ask for.
  virtual bool predicts(DataKind kind) const = 0;
  /// The intact heads, known from options alone (or from config.json of `load_path`).
  virtual Blocks blocks() const = 0;
  /// Parameters of the model it would build.
  virtual int64_t parameter_estimate(const ModelInput& input) const = 0;
  /// The folder of `init: load`; nothing for `init: train`.
  virtual std::optional<std::filesystem::path> load_path() const = 0;
  /// The outputs of the classifier of `load_path`; none where nothing is loaded, or the folder has no classifier.
  virtual ModelLabels labels() const { return {}; }
  /// Initialised, or loaded. Throws Error(run_failed) when a loaded folder does not fit.
  virtual std::shared_ptr<TransformerModel> build(const ModelInput& input) const = 0;
  /// The same without memory and values, from headers of files: refuses what build() refuses, before any work.
  virtual std::shared_ptr<TransformerModel> outline(const ModelInput& input) const = 0;
  /// Why its model cannot be put into fewer groups (model/grouping.h): its folders cannot say so, or the loaded one
  /// lacks heads; empty where it can.
  virtual std::string cannot_convert() const { return {}; }
  /// Sizes of a loaded model, as its folder has them; null where none is loaded.
  virtual Json loaded_sizes() const { return {}; }
};

}  // namespace headprune
