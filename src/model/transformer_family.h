// What the families `encoder`, `decoder` and `encoder_decoder` share: options, and building a model from them or from
// a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/family.h"
#include "model/folder.h"
#include "model/transformer_model.h"

namespace headprune {

enum class ModelInit { train, load };
template <>
struct EnumNames<ModelInit> {
  static constexpr std::pair<const char*, ModelInit> names[] = {{"train", ModelInit::train}, {"load", ModelInit::load}};
};

/// Options of both families. With `init: load` the sizes come from the folder, and one that was set to something else
/// is a problem.
struct TransformerOptions {
  ModelInit init = ModelInit::train;
  std::optional<std::filesystem::path> path;
  int64_t d_model = 64;
  int64_t layers = 4;
  std::optional<int64_t> decoder_layers;  // encoder_decoder
  int64_t heads = 4;
  std::optional<int64_t> groups, d_key, d_value, d_ff;
  FeedForwardType feed_forward = FeedForwardType::plain;
  Activation activation = Activation::gelu;
  NormOrder norm = NormOrder::pre;
  NormType norm_type = NormType::layer;
  double layer_norm_eps = 1e-5;
  bool bias = true;
  Positions positions = Positions::learned;
  double rope_theta = 10000;
  RotaryPairs rope_pairs = RotaryPairs::halves;
  double rope_fraction = 1;
  int64_t t5_buckets = 32, t5_max_distance = 128;
  int64_t shaw_max_distance = 16;
  bool shaw_values = true;
  LayerPatterns attention;
  double dropout = 0.1;

  template <class V>
  void fields(V& v) {
    v("init", init, "train: start from random weights; load: start from the model saved in `path`");
    v("path", path, "folder of a saved model (config.json, model.safetensors); only with init: load", existing_folder);
    v("d_model", d_model, "width of the residual stream", between(1, 65536));
    v("layers", layers, "number of blocks, each attention and feed-forward", between(1, 1024));
    v("heads", heads, "attention heads of each block", between(1, 1024));
    v("groups", groups,
      "key/value heads of each block, each read by heads / groups query heads; default: every head has its own",
      between(1, 1024));
    v("d_key", d_key, "width of a head's queries and keys; default d_model / heads", between(1, 65536));
    v("d_value", d_value, "width of a head's values; default d_model / heads", between(1, 65536));
    v("d_ff", d_ff, "width of the feed-forward layer; default 4 d_model", between(1, 1048576));
    v("feed_forward", feed_forward, "plain: two matrices; gated: a third one's output, through the activation, gates");
    v("activation", activation, "of the feed-forward layer");
    v("norm", norm, "normalization before each part of a block (pre) or after it (post)");
    v("norm_type", norm_type, "layer: layer normalization; rms: by the root of the mean square, without a shift");
    v("layer_norm_eps", layer_norm_eps, "added to the variance in normalization", above(0));
    v("bias", bias, "whether the linear layers of blocks, and logits that are not token vectors, have a bias");
    v("positions", positions,
      "vectors that are trained (learned) or fixed (sinusoidal); inside self-attention queries and keys that are "
      "turned "
      "(rotary, or rope), scores that fall with the distance (alibi), a trained number for each head and bucket of "
      "distances (t5), trained vectors for distances (shaw), projected ones (transformer_xl); or none");
    v("rope_theta", rope_theta, "base of the frequencies of rotary positions", above(0));
    v("rope_pairs", rope_pairs,
      "numbers of a head that are turned together: i and i + half of them (halves, or half), or 2i and 2i + 1 "
      "(neighbours, or interleaved)");
    v("rope_fraction", rope_fraction, "share of a head's width that rotary positions turn, from its start", above(0),
      at_most(1));
    v("t5_buckets", t5_buckets, "of t5 positions: buckets of distances; in an encoder half of them for each side",
      between(2, 65536));
    v("t5_max_distance", t5_max_distance, "of t5 positions: from here on distances share the last bucket",
      between(2, 16777216));
    v("shaw_max_distance", shaw_max_distance, "of shaw positions: larger distances count as this one",
      between(1, 65536));
    v("shaw_values", shaw_values, "of shaw positions: values have vectors for distances too, not keys alone");
    v("attention", attention,
      "which keys queries see in self-attention: one pattern for all layers, or a list with one for each; default "
      "full");
    hide_standard(v);
    v("dropout", dropout, "share of values dropped in training, also with init: load", at_least(0), below(1));
    hide_unused(v, {"d_model",     "layers",         "heads",        "groups",          "d_key",
                    "d_value",     "d_ff",           "feed_forward", "activation",      "norm",
                    "norm_type",   "layer_norm_eps", "bias",         "positions",       "rope_theta",
                    "rope_pairs",  "rope_fraction",  "t5_buckets",   "t5_max_distance", "shaw_max_distance",
                    "shaw_values", "attention"});
  }
  /// A loaded model has the sizes of its folder: views of the configuration leave out what stands here.
  void hide_unused(FieldList& list, const std::vector<std::string>& names) const {
    if (init == ModelInit::load) list.hide(names);
  }

  /// Variants that most models are not: views of the configuration show them where they are chosen.
  void hide_standard(FieldList& list) const;

  /// Sizes of the model to be trained; data fills in the rest.
  TransformerConfig config(Architecture architecture) const;
  /// Rules about several keys. `intact` and `standard`: the configurations of these options and of the defaults.
  CrossProblems problems_of(const TransformerConfig& intact, const TransformerConfig& standard) const;

 private:
  void add_position_problems(const TransformerConfig& intact, CrossProblems& problems) const;
  void add_pattern_problems(const TransformerConfig& intact, CrossProblems& problems) const;
};

/// A family whose models are built here from sizes.
class TransformerFamily : public ModelFamily {
 public:
  /// `options` give dropout and, with init: train, nothing more: `intact` has the sizes.
  TransformerFamily(const TransformerOptions& options, const TransformerConfig& intact);
  Blocks blocks() const override;
  int64_t parameter_estimate(const ModelInput& input) const override;
  std::optional<std::filesystem::path> load_path() const override { return path_; }
  ModelLabels labels() const override;
  std::string cannot_convert() const override;
  std::shared_ptr<TransformerModel> build(const ModelInput& input) const override;
  std::shared_ptr<TransformerModel> outline(const ModelInput& input) const override;
  Json loaded_sizes() const override;

 private:
  TransformerConfig sizes_for(const ModelInput& input) const;
  ModelFolder folder() const;

  std::optional<std::filesystem::path> path_;
  TransformerConfig config_;
};

}  // namespace headprune
