// The sizes of a transformer, what follows from them, and config.json (docs/formats.md section 6).
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/heads.h"
#include "model/layers.h"
#include "model/pattern_options.h"
#include "model/rotary.h"

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

/// What a model is for: a bidirectional classifier, a causal language model, or one that writes a text from another.
enum class Architecture { encoder, decoder, encoder_decoder };
template <>
struct EnumNames<Architecture> {
  static constexpr std::pair<const char*, Architecture> names[] = {{"encoder", Architecture::encoder},
                                                                   {"decoder", Architecture::decoder},
                                                                   {"encoder_decoder", Architecture::encoder_decoder}};
};

/// Everything that config.json says of an intact model; the names are those of the options in YAML.
struct TransformerConfig {
  Architecture architecture = Architecture::encoder;  // in config.json: model_type
  int64_t d_model = 64;
  int64_t layers = 4;          // of an encoder-decoder: of its encoder
  int64_t decoder_layers = 0;  // encoder-decoder
  int64_t heads = 4;
  int64_t groups = 0;  // key/value heads; 0: every head has its own
  int64_t d_key = 16;
  int64_t d_value = 16;
  int64_t d_ff = 256;
  FeedForwardType feed_forward = FeedForwardType::plain;
  Activation activation = Activation::gelu;
  NormOrder norm = NormOrder::pre;
  NormType norm_type = NormType::layer;
  double layer_norm_eps = 1e-5;  // of either type
  bool attention_bias = true;    // of query, key and value
  bool attention_output_bias = true;
  bool feed_forward_bias = true;
  bool head_bias = true;   // of a classifier's output layer, or of logits that are not token vectors
  bool head_norm = false;  // queries and keys are normalized over a head's width
  Positions positions = Positions::learned;
  double rope_theta = 10000;  // with rotary positions, like the following (rotary.h)
  RotaryPairs rope_pairs = RotaryPairs::halves;
  RotaryScaling rope_scaling = RotaryScaling::none;
  double rope_factor = 1, rope_low_frequency_factor = 1, rope_high_frequency_factor = 4;
  int64_t rope_original_length = 8192;
  double rope_fraction = 1;                        // of a head's width that is turned
  int64_t t5_buckets = 32, t5_max_distance = 128;  // with t5 positions (t5_bias.h)
  int64_t shaw_max_distance = 16;                  // with shaw positions (shaw.h)
  bool shaw_values = true;
  std::vector<PatternOptions> patterns = {};  // of self-attention: one for all layers, or one for each; empty: full
  int64_t window = 0;                         // decoder: keys that a query sees in layers that slide; 0: none does
  std::vector<bool> sliding_layers = {};      // by layer; empty: all, where there is a window
  bool scale_embeddings = true;  // encoder-decoder with sinusoidal positions: token vectors times sqrt(d_model)
  bool logits_bias = false;      // encoder-decoder: a constant, never trained, is added to the logits
  double dropout = 0.1;
  Pooling pooling = Pooling::cls;  // classifier
  Pooler pooler = Pooler::none;    // classifier
  bool tie_embeddings = true;      // language model, encoder-decoder: logits use the token vectors, without a bias
  int64_t vocabulary_size = 0;
  int64_t target_vocabulary_size = 0;  // encoder-decoder; 0: both sides share one vocabulary and its vectors
  int64_t max_length = 0;
  int64_t position_offset = 0;  // rows of learned positions before the first that is used
  int64_t token_types = 0;      // 0: the model knows none
  /// Positions do not count this token: wherever it stands, its position is the row before the first that is used, and
  /// those behind it move up. RoBERTa's padding; -1: every token counts. Not in config.json of this program's families.
  int64_t uncounted_token = -1;
  bool ignores_token_types = false;  // every token is of type 0, whatever the data say
  int64_t outputs = 0;               // classifier: labels

  template <class V>
  void fields(V& v) {
    const bool classifies = architecture == Architecture::encoder, translates = writes_from_source();
    v("d_model", d_model, "width of the residual stream", between(1, 65536));
    v("layers", layers, "number of layers", between(1, 1024));
    if (translates) v("decoder_layers", decoder_layers, "number of layers of the decoder", between(1, 1024));
    v("heads", heads, "attention heads of each intact block", between(1, 1024));
    later(v, "groups", &TransformerConfig::groups, "key/value heads of each intact block; 0: every head has its own",
          between(0, 1024));
    v("d_key", d_key, "width of a head's queries and keys", between(1, 65536));
    v("d_value", d_value, "width of a head's values", between(1, 65536));
    v("d_ff", d_ff, "width of the feed-forward layer", between(1, 1048576));
    later(v, "feed_forward", &TransformerConfig::feed_forward, "two matrices, or a gate beside them");
    v("activation", activation, "of the feed-forward layer");
    v("norm", norm, "normalization before or after each part");
    later(v, "norm_type", &TransformerConfig::norm_type, "kind of normalization");
    v("layer_norm_eps", layer_norm_eps, "added to the variance", above(0));
    later(v, "attention_bias", &TransformerConfig::attention_bias, "queries, keys and values have a bias");
    later(v, "attention_output_bias", &TransformerConfig::attention_output_bias, "the output projection has one");
    later(v, "feed_forward_bias", &TransformerConfig::feed_forward_bias, "the feed-forward layers have one");
    later(v, "head_bias", &TransformerConfig::head_bias, "the output layer has one");
    later(v, "head_norm", &TransformerConfig::head_norm, "queries and keys are normalized");
    v("positions", positions, "positions");
    if (positions == Positions::rotary) {
      later(v, "rope_theta", &TransformerConfig::rope_theta, "base of the frequencies of rotary positions", above(0));
      later(v, "rope_pairs", &TransformerConfig::rope_pairs, "which numbers of a head are turned together");
      later(v, "rope_scaling", &TransformerConfig::rope_scaling, "how frequencies are changed for long texts");
      later(v, "rope_factor", &TransformerConfig::rope_factor, "what they are divided by", above(0));
      later(v, "rope_low_frequency_factor", &TransformerConfig::rope_low_frequency_factor, "of llama3", above(0));
      later(v, "rope_high_frequency_factor", &TransformerConfig::rope_high_frequency_factor, "of llama3", above(0));
      later(v, "rope_original_length", &TransformerConfig::rope_original_length, "of llama3", between(1, 16777216));
      later(v, "rope_fraction", &TransformerConfig::rope_fraction, "share of a head's width that is turned", above(0),
            at_most(1));
    }
    if (positions == Positions::t5) {
      v("t5_buckets", t5_buckets, "buckets of distances", between(2, 65536));
      v("t5_max_distance", t5_max_distance, "the last bucket begins here", between(2, 16777216));
    }
    if (positions == Positions::shaw) {
      v("shaw_max_distance", shaw_max_distance, "larger distances count as this one", between(1, 65536));
      v("shaw_values", shaw_values, "values have relative vectors too");
    }
    later(v, "window", &TransformerConfig::window, "keys that a query sees where layers slide; 0: none does",
          between(0, 16777216));
    if (translates) v("scale_embeddings", scale_embeddings, "token vectors times sqrt(d_model)");
    if (translates) v("logits_bias", logits_bias, "a constant added to the logits");
    v("dropout", dropout, "share dropped in training", at_least(0), below(1));
    if (classifies) v("pooling", pooling, "what the classifier looks at");
    if (classifies) v("pooler", pooler, "layer before the classifier's output layer");
    if (classifies) v("outputs", outputs, "labels", between(1, 1048576));
    if (!classifies) v("tie_embeddings", tie_embeddings, "logits use the token vectors");
    v("vocabulary_size", vocabulary_size, "tokens", between(1, 16777216));
    if (translates)
      v("target_vocabulary_size", target_vocabulary_size, "tokens of the target; 0: the same as those of the source",
        between(0, 16777216));
    v("max_length", max_length, "learned positions", between(1, 16777216));
    v("position_offset", position_offset, "learned positions before the first one used", between(0, 65536));
    v("token_types", token_types, "token types", between(0, 65536));
  }
  bool operator==(const TransformerConfig&) const = default;

  HeadLayout layout() const {
    return {.heads = heads, .groups = groups > 0 ? groups : heads, .key_width = d_key, .value_width = d_value};
  }
  /// Numbers of a head that rotary positions turn.
  int64_t rope_width() const { return std::llround(static_cast<double>(d_key) * rope_fraction); }
  RotaryConfig rotary() const {
    return {.width = rope_width(),
            .theta = rope_theta,
            .pairs = rope_pairs,
            .scaling = rope_scaling,
            .factor = rope_factor,
            .low_frequency_factor = rope_low_frequency_factor,
            .high_frequency_factor = rope_high_frequency_factor,
            .original_length = rope_original_length};
  }
  /// Whether the queries of a layer see only the last `window` keys.
  bool slides(int64_t layer) const {
    return window > 0 && (sliding_layers.empty() || sliding_layers.at(static_cast<size_t>(layer)));
  }
  /// Of a layer's self-attention.
  PatternOptions pattern_of_layer(int64_t layer) const {
    if (patterns.empty()) return slides(layer) ? PatternOptions(LocalOptions{.window = window}) : FullOptions();
    return patterns.size() == 1 ? patterns.front() : patterns.at(static_cast<size_t>(layer));
  }
  bool writes_from_source() const { return architecture == Architecture::encoder_decoder; }
  /// Tokens that an encoder-decoder writes.
  int64_t written_tokens() const { return target_vocabulary_size > 0 ? target_vocabulary_size : vocabulary_size; }

 private:
  /// A size that older folders do not state: it has its default there. Views leave it out where it has it still, so
  /// that what they make of other models stays as it was.
  template <class V, class T, class... Checks>
  void later(V& v, const char* name, T TransformerConfig::*member, const char* help, const Checks&... checks) {
    if constexpr (requires { v.states(name); })
      if (!v.states(name)) return;
    v(name, this->*member, help, checks...);
    if constexpr (requires { v.hide({name}); })
      if (this->*member == TransformerConfig().*member) v.hide({name});
  }
};

/// "headprune_encoder" and its like, the model_type of config.json.
std::string model_type(Architecture architecture);
/// The heads of an intact model, without those in `removed`.
Blocks transformer_blocks(const TransformerConfig& config, const HeadSet& removed = {});
/// Outputs of its output layer; 0 where token vectors serve as one.
int64_t output_layer_size(const TransformerConfig& config);

/// `attention` of config.json: [{"local": {"window": 64}}].
Json patterns_json(const TransformerConfig& config);
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
