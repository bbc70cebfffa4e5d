// Families `llama`, `mistral`, `qwen2` and `qwen3`: causal language models with grouped heads, rotary positions, RMS
// norm and a gated feed-forward part (Touvron et al. 2023; Jiang et al. 2023; Yang et al. 2024 and 2025), and every
// folder that says it is one of them (SmolLM2, TinyLlama). One layout; what differs stands side by side below.
#include "core/error.h"
#include "model/bert_layout.h"
#include "model/hf_family.h"

namespace headprune {
namespace {

class LlamaLayout : public HfLayout {
 public:
  std::string model_type() const override { return "llama"; }
  bool predicts(DataKind kind) const override { return is_language(kind); }
  bool prunes_elsewhere() const override { return false; }
  Json head_keys(const HeadLayout& layout) const override {
    return {
        {"num_attention_heads", layout.heads}, {"num_key_value_heads", layout.groups}, {"head_dim", layout.key_width}};
  }
  bool heads_divide_width() const override { return model_type() == "llama"; }
  std::string prefix() const override { return "model."; }
  std::string architecture() const override { return "LlamaForCausalLM"; }
  TransformerConfig sizes(const HfConfig& config) const override;
  std::vector<HfTensor> tensors(const TransformerConfig& sizes) const override;
  bool left_out(const std::string& name) const override { return name.ends_with("rotary_emb.inv_freq"); }

 protected:
  /// What a family says in keys of its own, or not at all.
  virtual void add_own(const HfConfig& config, TransformerConfig& sizes) const {
    sizes.attention_bias = sizes.attention_output_bias = config.flag("attention_bias", false);
    sizes.feed_forward_bias = config.flag("mlp_bias", false);
  }
  virtual int64_t head_width(const HfConfig& config, const TransformerConfig& sizes) const {
    if (!config.has("head_dim") && sizes.d_model % sizes.heads != 0)
      fail(ExitCode::run_failed, "{}: {} attention heads do not divide a model of width {}, and there is no head_dim",
           config.where(), sizes.heads, sizes.d_model);
    return config.size("head_dim", std::max<int64_t>(1, sizes.d_model / sizes.heads));
  }
};

TransformerConfig LlamaLayout::sizes(const HfConfig& config) const {
  config.require("pretraining_tp", 1);
  config.require("attention_dropout", 0.0);
  TransformerConfig sizes;
  sizes.architecture = Architecture::decoder;
  sizes.d_model = config.size("hidden_size");
  sizes.layers = config.size("num_hidden_layers");
  sizes.heads = config.size("num_attention_heads");
  sizes.groups = config.size("num_key_value_heads", sizes.heads);
  if (sizes.heads % sizes.groups != 0)
    fail(ExitCode::run_failed, "{}: num_key_value_heads {} does not divide num_attention_heads {}", config.where(),
         sizes.groups, sizes.heads);
  sizes.d_key = sizes.d_value = head_width(config, sizes);
  if (sizes.d_key % 2 != 0)
    fail(ExitCode::run_failed, "{}: rotary positions turn pairs of numbers, and a head has {}", config.where(),
         sizes.d_key);
  sizes.d_ff = config.size("intermediate_size");
  sizes.feed_forward = FeedForwardType::gated;
  sizes.activation = config.activation("hidden_act", "silu");
  sizes.norm = NormOrder::pre;
  sizes.norm_type = NormType::rms;
  sizes.layer_norm_eps = config.number("rms_norm_eps", 1e-6);
  sizes.dropout = 0;
  set_rotary(sizes, config);
  sizes.tie_embeddings = config.flag("tie_word_embeddings", false);
  sizes.head_bias = false;
  sizes.attention_bias = sizes.attention_output_bias = sizes.feed_forward_bias = false;
  sizes.vocabulary_size = config.size("vocab_size");
  sizes.max_length = config.size("max_position_embeddings", 2048);
  add_own(config, sizes);
  return sizes;
}

/// Weight, and bias where there is one.
void add_linear(std::vector<HfTensor>& tensors, const std::string& theirs, const std::string& ours, bool bias) {
  tensors.push_back({.name = theirs + ".weight", .parts = {ours + ".weight"}});
  if (bias) tensors.push_back({.name = theirs + ".bias", .parts = {ours + ".bias"}});
}

std::vector<HfTensor> LlamaLayout::tensors(const TransformerConfig& sizes) const {
  std::vector<HfTensor> tensors = {{.name = "embed_tokens.weight", .parts = {"embeddings.tokens"}}};
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string theirs = fmt::format("layers.{}.", layer), ours = fmt::format("blocks.{}.", layer);
    add_linear(tensors, theirs + "input_layernorm", ours + "attention_norm", false);
    add_linear(tensors, theirs + "self_attn.q_proj", ours + "attention.query", sizes.attention_bias);
    add_linear(tensors, theirs + "self_attn.k_proj", ours + "attention.key", sizes.attention_bias);
    add_linear(tensors, theirs + "self_attn.v_proj", ours + "attention.value", sizes.attention_bias);
    add_linear(tensors, theirs + "self_attn.o_proj", ours + "attention.output", sizes.attention_output_bias);
    if (sizes.head_norm) {
      add_linear(tensors, theirs + "self_attn.q_norm", ours + "attention.query_norm", false);
      add_linear(tensors, theirs + "self_attn.k_norm", ours + "attention.key_norm", false);
    }
    add_linear(tensors, theirs + "post_attention_layernorm", ours + "feed_forward_norm", false);
    for (const char* part : {"gate", "up", "down"})
      add_linear(tensors, fmt::format("{}mlp.{}_proj", theirs, part), fmt::format("{}feed_forward.{}", ours, part),
                 sizes.feed_forward_bias);
  }
  add_linear(tensors, "norm", "norm", false);
  if (sizes.tie_embeddings) {
    tensors.front().copies = {"lm_head.weight"};
    return tensors;
  }
  add_linear(tensors, "lm_head", "head", false);
  tensors.back().prefixed = false;
  return tensors;
}

class MistralLayout final : public LlamaLayout {
 public:
  std::string model_type() const override { return "mistral"; }
  std::string architecture() const override { return "MistralForCausalLM"; }

 protected:
  void add_own(const HfConfig& config, TransformerConfig& sizes) const override {
    // Absent, it is 4096; null switches it off.
    sizes.window =
        config.states("sliding_window") ? (config.has("sliding_window") ? config.size("sliding_window") : 0) : 4096;
  }
};

/// Which layers slide, from `layer_types` or from `use_sliding_window` and `max_window_layers`.
void set_windows(const HfConfig& config, TransformerConfig& sizes) {
  std::vector<bool> slides;
  const std::vector<std::string> types = config.words("layer_types");
  if (!types.empty() && std::ssize(types) != sizes.layers)
    fail(ExitCode::run_failed, "{}: layer_types has {} entries for {} layers", config.where(), types.size(),
         sizes.layers);
  const bool uses = config.flag("use_sliding_window", false);
  const int64_t from = config.size("max_window_layers", 28);
  for (int64_t layer = 0; layer < sizes.layers; ++layer)
    slides.push_back(types.empty() ? uses && layer >= from : types[static_cast<size_t>(layer)] == "sliding_attention");
  if (std::find(slides.begin(), slides.end(), true) == slides.end()) return;
  sizes.window = config.size("sliding_window", 4096);
  sizes.sliding_layers = std::move(slides);
}

class Qwen2Layout final : public LlamaLayout {
 public:
  std::string model_type() const override { return "qwen2"; }
  std::string architecture() const override { return "Qwen2ForCausalLM"; }

 protected:
  void add_own(const HfConfig& config, TransformerConfig& sizes) const override {
    sizes.attention_bias = true;  // no key says so
    set_windows(config, sizes);
  }
};

class Qwen3Layout final : public LlamaLayout {
 public:
  std::string model_type() const override { return "qwen3"; }
  std::string architecture() const override { return "Qwen3ForCausalLM"; }

 protected:
  void add_own(const HfConfig& config, TransformerConfig& sizes) const override {
    sizes.attention_bias = sizes.attention_output_bias = config.flag("attention_bias", false);
    sizes.head_norm = true;
    set_windows(config, sizes);
  }
  int64_t head_width(const HfConfig& config, const TransformerConfig&) const override {
    return config.size("head_dim", 128);
  }
};

const RegisterHf<LlamaLayout> register_llama{"a Llama checkpoint (SmolLM2, TinyLlama) as a language model"};
const RegisterHf<MistralLayout> register_mistral{"a Mistral checkpoint as a language model"};
const RegisterHf<Qwen2Layout> register_qwen2{"a Qwen2 checkpoint as a language model"};
const RegisterHf<Qwen3Layout> register_qwen3{"a Qwen3 checkpoint as a language model"};

}  // namespace
}  // namespace headprune
