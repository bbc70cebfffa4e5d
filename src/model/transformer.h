// The transformer of the families `encoder` (bidirectional classifier) and `decoder` (causal language model).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/layers.h"
#include "model/model.h"

namespace headprune {

/// What a classifier looks at: the first position, or the mean over positions that are not padding.
enum class Pooling { cls, mean };
template <>
struct EnumNames<Pooling> {
  static constexpr std::pair<const char*, Pooling> names[] = {{"cls", Pooling::cls}, {"mean", Pooling::mean}};
};

/// A layer between what the classifier looks at and its output layer: dense, then this function.
enum class Pooler { none, tanh, relu };
template <>
struct EnumNames<Pooler> {
  static constexpr std::pair<const char*, Pooler> names[] = {
      {"none", Pooler::none}, {"tanh", Pooler::tanh}, {"relu", Pooler::relu}};
};

/// Everything that config.json says of an intact model; the names are those of the options in YAML.
struct TransformerConfig {
  Kind kind = Kind::encoder;  // encoder: classifier; decoder: language model. In config.json: model_type
  int64_t d_model = 64;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t d_key = 16;
  int64_t d_value = 16;
  int64_t d_ff = 256;
  Activation activation = Activation::gelu;
  NormOrder norm = NormOrder::pre;
  double layer_norm_eps = 1e-5;
  Positions positions = Positions::learned;
  double dropout = 0.1;
  Pooling pooling = Pooling::cls;  // classifier
  Pooler pooler = Pooler::none;    // classifier
  bool tie_embeddings = true;      // language model: logits use the token vectors, without a bias
  int64_t vocabulary_size = 0;
  int64_t max_length = 0;
  int64_t position_offset = 0;  // rows of learned positions before the first that is used
  int64_t token_types = 0;      // 0: the model knows none
  int64_t outputs = 0;          // classifier: labels

  template <class V>
  void fields(V& v) {
    v("d_model", d_model, "width of the residual stream", between(1, 65536));
    v("layers", layers, "number of blocks", between(1, 1024));
    v("heads", heads, "attention heads of each intact block", between(1, 1024));
    v("d_key", d_key, "width of a head's queries and keys", between(1, 65536));
    v("d_value", d_value, "width of a head's values", between(1, 65536));
    v("d_ff", d_ff, "width of the feed-forward layer", between(1, 1048576));
    v("activation", activation, "of the feed-forward layer");
    v("norm", norm, "layer normalization before or after each part");
    v("layer_norm_eps", layer_norm_eps, "added to the variance", above(0));
    v("positions", positions, "position vectors");
    v("dropout", dropout, "share dropped in training", at_least(0), below(1));
    if (kind == Kind::encoder) v("pooling", pooling, "what the classifier looks at");
    if (kind == Kind::encoder) v("pooler", pooler, "layer before the classifier's output layer");
    if (kind == Kind::encoder) v("outputs", outputs, "labels", between(1, 1048576));
    if (kind == Kind::decoder) v("tie_embeddings", tie_embeddings, "logits use the token vectors");
    v("vocabulary_size", vocabulary_size, "tokens", between(1, 16777216));
    v("max_length", max_length, "learned positions", between(1, 16777216));
    v("position_offset", position_offset, "learned positions before the first one used", between(0, 65536));
    v("token_types", token_types, "token types", between(0, 65536));
  }
  bool operator==(const TransformerConfig&) const = default;
};

/// Names of labels as config.json has them, {"0":"negative","1":"positive"}, and back; nothing where it has none.
Json labels_json(const std::vector<std::string>& labels);
std::vector<std::string> labels_from_json(const Json& config);

/// "headprune_encoder" or "headprune_decoder", the model_type of config.json.
std::string model_type(Kind kind);
/// The heads of an intact model, without those in `removed`.
Blocks transformer_blocks(const TransformerConfig& config, const HeadSet& removed = {});
/// Parameters of an intact model.
int64_t parameter_count(const TransformerConfig& config);

struct HfOrigin;  // model/hf_layout.h

class Transformer final : public Model {
 public:
  /// All weights are zeros but for those of layer normalization; see initialise(). `removed` heads never exist.
  explicit Transformer(const TransformerConfig& config, const HeadSet& removed = {});

  Blocks blocks() const override;
  /// Values: logits [B, outputs] of a classifier, [B, T, vocabulary] of a language model. Positions that are padding
  /// are seen by no query; their own logits mean nothing. Dropout, in training mode, draws from torch's default
  /// generator of the device (at::manual_seed).
  ModelOutput forward(const Batch& batch, const HeadProbe& probe = {}) override;
  /// The same without the classifier or the output layer: values are the last layer's states [B, T, C].
  ModelOutput encode(const Batch& batch, const HeadProbe& probe = {});
  Paused pause(const Batch& batch, size_t block, const Paused* before = nullptr) override;
  ModelOutput resume(const Batch& batch, const Paused& paused, const PerBlock& gates) override;
  void remove_heads(const HeadSet& removed) override;
  Attention& attention(size_t index) override;
  std::shared_ptr<Model> copy() const override;
  Json config() const override;
  NamedTensors tensors() const override;
  std::optional<int64_t> layers_above(const std::string& parameter) const override;
  int64_t attention_flops_per_token(int64_t sequence_length) const override;
  /// The intact model's sizes, also after heads went.
  const TransformerConfig& sizes() const { return config_; }
  HeadSet removed_heads() const;
  /// For a model that came from a checkpoint of another tool: config() and tensors() keep to its layout.
  void set_origin(std::shared_ptr<const HfOrigin> origin) { origin_ = std::move(origin); }
  /// Written to config.json; one name an output.
  void set_labels(std::vector<std::string> labels) { labels_ = std::move(labels); }

 private:
  /// Where the last block's first position is all that the classifier looks at, nothing else of it is computed.
  bool first_only(size_t block) const;
  void check_gates(const PerBlock& gates) const;
  Visibility visibility(const Batch& batch) const;
  torch::Tensor embed(const Batch& batch) const;  // [B, T, C]
  torch::Tensor read_out(const torch::Tensor& states, const Batch& batch) const;

  TransformerConfig config_;
  std::shared_ptr<Embeddings> embeddings_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<LayerNorm> norm_;     // after the embeddings (post) or after the last block (pre)
  std::shared_ptr<Projection> pooler_;  // [C, C]; null without
  std::shared_ptr<Projection> head_;    // logits; null with tied embeddings
  std::shared_ptr<const HfOrigin> origin_;
  std::vector<std::string> labels_;
};

/// Fills the weights, each tensor from its own random stream of `seed` (core/random.h), so the same seed gives the same
/// bytes on any machine and a tensor's values do not depend on which others there are:
///   matrices          uniform in +-sqrt(6 / (rows + columns)), variance 2 / (rows + columns) (Glorot and Bengio 2010)
///   token, position vectors   normal with variance 1 / C
///   biases            0
///   layer normalization       weight 1, bias 0
void initialise(Transformer& model, uint64_t seed);

/// config.json of a model with these sizes and removed heads.
Json config_to_json(const TransformerConfig& config, const HeadSet& removed);
/// model_type of a config.json; "" where it has none.
std::string model_type_of(const Json& json);
/// The reverse. Throws Error(run_failed) naming `where` and the key.
TransformerConfig config_from_json(const Json& json, const std::string& where);
HeadSet removed_from_json(const Json& json, const TransformerConfig& config, const std::string& where);
/// "headprune" of config.json: {"removed":...,"heads":...}.
Json removal_json(const TransformerConfig& config, const HeadSet& removed);

}  // namespace headprune
