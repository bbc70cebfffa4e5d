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

  HfFamily(std::shared_ptr<const HfLayout> layout, Options options)
      : layout_(std::move(layout)), options_(std::move(options)) {}
  bool predicts(DataKind kind) const override { return layout_->predicts(kind); }
  Blocks blocks() const override;
  int64_t parameter_estimate(const ModelInput& input) const override;
  std::optional<std::filesystem::path> load_path() const override { return options_.path; }
  ModelLabels labels() const override;
  std::string cannot_convert() const override;
  std::shared_ptr<TransformerModel> build(const ModelInput& input) const override;
  std::shared_ptr<TransformerModel> outline(const ModelInput& input) const override;
  Json loaded_sizes() const override;

 private:
  ModelFolder folder() const;

  std::shared_ptr<const HfLayout> layout_;
  Options options_;
};

/// The family of a layout, as the registry wants it.
template <class Layout>
class HfFamilyOf final : public HfFamily {
 public:
  explicit HfFamilyOf(Options options) : HfFamily(std::make_shared<const Layout>(), std::move(options)) {}
};

/// Registers a layout, and the family that loads its folders, under its model_type:
///   const RegisterHf<BertLayout> register_bert{"a BERT checkpoint with a classifier"};
template <class Layout>
struct RegisterHf {
  explicit RegisterHf(const char* summary) : family(Layout().model_type().c_str(), summary) {
    add_layout(std::make_shared<const Layout>());
  }
  Register<ModelFamily, HfFamilyOf<Layout>> family;
};

}  // namespace headprune
