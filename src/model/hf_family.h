// What the families of other tools' checkpoints share: they are loaded, never built from sizes in YAML.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/family.h"
#include "model/folder.h"
#include "model/hf_layout.h"
#include "model/transformer_family.h"

namespace headprune {

class HfFamily : public ModelFamily {
 public:
  struct Options {
    ModelInit init = ModelInit::load;
    std::filesystem::path path;
    std::optional<double> dropout;

    template <class V>
    void fields(V& v) {
      v("init", init, "load: start from the checkpoint in `path`, which a train section fine-tunes");
      v("path", path, "folder with config.json, model.safetensors (or its shards) and the tokenizer's files", required,
        existing_folder);
      v("dropout", dropout, "share of values dropped in training; absent: what config.json says", at_least(0),
        below(1));
    }
    CrossProblems problems() const;
  };

  explicit HfFamily(Options options) : options_(std::move(options)) {}
  /// The model_type of config.json, which is also the name in YAML.
  virtual std::string model_type() const = 0;
  bool predicts(DataKind kind) const override { return kind == DataKind::labelled || kind == DataKind::numbered; }
  Blocks blocks() const override;
  int64_t parameter_estimate(const ModelInput& input) const override;
  std::optional<std::filesystem::path> load_path() const override { return options_.path; }
  ModelLabels labels() const override;
  std::shared_ptr<Model> build(const ModelInput& input) const override;
  std::shared_ptr<Model> outline(const ModelInput& input) const override;
  Json loaded_sizes() const override;

 private:
  ModelFolder folder() const;

  Options options_;
};

}  // namespace headprune
