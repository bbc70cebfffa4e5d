// Checkpoint folders of Hugging Face transformers (docs/formats.md section 6): what each family calls its sizes and
// tensors. One layout a family, in the file of that family.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/heads.h"
#include "core/json.h"
#include "model/model.h"
#include "model/transformer_model.h"

namespace headprune {

/// config.json of another tool, read with one clear sentence for everything that does not fit. Every function throws
/// Error(run_failed).
class HfConfig {
 public:
  HfConfig(Json json, std::string where) : json_(std::move(json)), where_(std::move(where)) {}

  /// A positive size; `fallback` where the key is absent or null, and an error where there is none.
  int64_t size(const char* key, std::optional<int64_t> fallback = std::nullopt) const;
  double number(const char* key, double fallback) const;
  bool flag(const char* key, bool fallback) const;
  std::string text(const char* key, const std::string& fallback) const;
  /// Texts of a list; none where the key is absent or null.
  std::vector<std::string> words(const char* key) const;
  /// Whether the file has the key, be it null.
  bool states(const char* key) const { return json_.contains(key); }
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  /// From `hidden_act` and its like. Lists what is supported.
  Activation activation(const char* key, const std::string& fallback) const;
  /// Refuses another value than `only` for a setting that changes what the model computes.
  void require(const char* key, const Json& only) const;
  /// Outputs of a classifier (labels) or of regression (1), from what the file says of labels; 2 as in transformers
  /// where it says nothing. Refuses a problem_type that is neither.
  int64_t outputs() const;

  /// The object that a key holds; empty where it is absent or null.
  HfConfig part(const char* key) const;
  const std::string& where() const { return where_; }

 private:
  [[noreturn]] void refuse(const char* key, const std::string& expected) const;

  Json json_;
  std::string where_;
};

/// Rotary positions from `rope_theta` and `rope_scaling`, or from `rope_parameters` (transformers 5). Refuses a scaling
/// that is not supported by its name.
void set_rotary(TransformerConfig& sizes, const HfConfig& config);
/// Dk and Dv from d_model and heads, which must divide it.
void set_head_widths(TransformerConfig& sizes, const HfConfig& config);

/// One tensor of a checkpoint and what it is here.
struct HfTensor {
  std::string name;                      // as in the file, without the family's prefix
  std::vector<std::string> parts;        // names here; several stand side by side along the output axis
  std::vector<std::string> copies = {};  // names of tied copies, which some files have in its place
  bool prefixed = true;    // belongs to the bare model, which has a prefix inside a model with a task head
  bool task_head = false;  // may be missing where the experiment trains
  bool conv1d = false;     // stored [in, out]
  bool row = false;        // a vector that is stored [1, n]
};

/// What one family of checkpoints is: what it predicts, and how it writes its folders.
class HfLayout {
 public:
  virtual ~HfLayout() = default;
  virtual std::string model_type() const = 0;  // "bert": of config.json, and the name in YAML
  virtual bool predicts(DataKind kind) const { return kind == DataKind::labelled || kind == DataKind::numbered; }
  /// Whether transformers (up to release 4) builds models of this family without heads, by `pruned_heads`.
  virtual bool prunes_elsewhere() const { return true; }
  /// The keys of config.json that state heads, groups and their width, alike for every layer, where that width is free
  /// of the model's; null for a family whose folders cannot say it. Folders with fewer heads open elsewhere by them.
  virtual Json head_keys(const HeadLayout& /*layout*/) const { return {}; }
  /// Whether transformers 5 refuses a number of heads that does not divide the model's width.
  virtual bool heads_divide_width() const { return false; }
  virtual std::string prefix() const = 0;        // "bert."
  virtual std::string architecture() const = 0;  // with the task head: "BertForSequenceClassification"
  /// Sizes of the intact model; dropout is that of the config.
  virtual TransformerConfig sizes(const HfConfig& config) const = 0;
  virtual std::vector<HfTensor> tensors(const TransformerConfig& sizes) const = 0;
  /// Buffers, tied copies and heads of pretraining, which stand in some files and are not read. `name` is without the
  /// prefix.
  virtual bool left_out(const std::string& name) const = 0;
};

/// Registers a layout under its model_type (hf_family.h does). Filled during static initialisation.
void add_layout(std::shared_ptr<const HfLayout> layout);
/// Null for a model_type that no layout reads.
std::shared_ptr<const HfLayout> find_layout(const std::string& model_type);
std::vector<std::string> layout_names();

struct HfReading {
  std::string where;
  bool new_task_head = false;
};

/// Where a model came from: its layout, and config.json as it was, for keys that mean nothing here.
struct HfOrigin {
  std::shared_ptr<const HfLayout> layout;
  Json config;
  std::filesystem::path folder = {};  // for the files in it that mean nothing here
};

/// config.json of a model of that origin without `removed` heads, in the compact form.
Json hf_config(const HfOrigin& origin, const TransformerConfig& sizes, const HeadSet& removed);
/// Tensors of a model under the names of the layout, with its prefix, in its orientation.
NamedTensors to_hf_tensors(const HfLayout& layout, const TransformerConfig& sizes, const NamedTensors& ours);
/// The tensors of a file under our names, of the shapes and in the orientation of `model`. With `new_task_head`, one
/// that the file does not have keeps what the model has, and the log says so. Throws Error(run_failed) for missing,
/// unexpected and misshapen tensors, all listed; `where` is the file.
NamedTensors from_hf_tensors(const HfLayout& layout, const TransformerModel& model, const NamedTensors& file,
                             const HfReading& reading);

}  // namespace headprune
