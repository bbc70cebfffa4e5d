// Family `marian`: checkpoints of Marian translation models (Junczys-Dowmunt et al. 2018; the OPUS-MT models), an
// encoder-decoder with norm: post, one vocabulary for both sides and a constant added to its logits.
#include "core/error.h"
#include "model/bert_layout.h"
#include "model/hf_family.h"

namespace headprune {
namespace {

class MarianLayout final : public HfLayout {
 public:
  std::string model_type() const override { return "marian"; }
  bool predicts(DataKind kind) const override { return kind == DataKind::translation; }
  /// transformers removes heads of models with one attention kind only.
  bool prunes_elsewhere() const override { return false; }
  std::string prefix() const override { return "model."; }
  std::string architecture() const override { return "MarianMTModel"; }
  TransformerConfig sizes(const HfConfig& config) const override;
  std::vector<HfTensor> tensors(const TransformerConfig& sizes) const override;
  /// Copies of the shared vectors, and positions, which are computed.
  bool left_out(const std::string& name) const override {
    return name == "lm_head.weight" || name.ends_with("embed_tokens.weight") ||
           name.ends_with("embed_positions.weight");
  }
};

/// A size that both sides must share.
int64_t both(const HfConfig& config, const char* encoder, const char* decoder) {
  const int64_t size = config.size(encoder);
  if (config.size(decoder) != size)
    fail(ExitCode::run_failed, "{}: {} and {} differ, which is not supported", config.where(), encoder, decoder);
  return size;
}

TransformerConfig MarianLayout::sizes(const HfConfig& config) const {
  config.require("share_encoder_decoder_embeddings", true);
  config.require("tie_word_embeddings", true);
  config.require("static_position_embeddings", true);
  // Where transformers starts a text, and where the tokenizer of such a folder (data/marian_tokenizer.cpp) does.
  if (config.number("decoder_start_token_id", -1) != config.number("pad_token_id", -1))
    fail(ExitCode::run_failed, "{}: decoder_start_token_id is not pad_token_id, which is not supported",
         config.where());
  config.require("normalize_before", false);
  config.require("normalize_embedding", false);
  config.require("add_final_layer_norm", false);
  TransformerConfig sizes;
  sizes.architecture = Architecture::encoder_decoder;
  sizes.d_model = config.size("d_model");
  sizes.layers = config.size("encoder_layers");
  sizes.decoder_layers = config.size("decoder_layers");
  sizes.heads = both(config, "encoder_attention_heads", "decoder_attention_heads");
  set_head_widths(sizes, config);
  sizes.d_ff = both(config, "encoder_ffn_dim", "decoder_ffn_dim");
  sizes.activation = config.activation("activation_function", "gelu");
  sizes.norm = NormOrder::post;
  sizes.layer_norm_eps = 1e-5;  // fixed in transformers
  sizes.dropout = config.number("dropout", 0.1);
  sizes.positions = Positions::sinusoidal_halves;
  sizes.scale_embeddings = config.flag("scale_embedding", false);
  sizes.logits_bias = true;
  sizes.vocabulary_size = config.size("vocab_size");
  sizes.max_length = config.size("max_position_embeddings", 1024);
  return sizes;
}

void add_attention(std::vector<HfTensor>& tensors, const std::string& theirs, const std::string& ours) {
  for (const auto& [part, own] : {std::pair("q_proj", "query"), std::pair("k_proj", "key"),
                                  std::pair("v_proj", "value"), std::pair("out_proj", "output")})
    add_layer(tensors, fmt::format("{}.{}", theirs, part), fmt::format("{}.{}", ours, own));
  add_layer(tensors, theirs + "_layer_norm", ours + "_norm");
}

void add_feed_forward(std::vector<HfTensor>& tensors, const std::string& theirs, const std::string& ours) {
  add_layer(tensors, theirs + "fc1", ours + "feed_forward.up");
  add_layer(tensors, theirs + "fc2", ours + "feed_forward.down");
  add_layer(tensors, theirs + "final_layer_norm", ours + "feed_forward_norm");
}

std::vector<HfTensor> MarianLayout::tensors(const TransformerConfig& sizes) const {
  std::vector<HfTensor> tensors = {
      {.name = "shared.weight",
       .parts = {"embeddings.tokens"},
       .copies = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}}};
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string theirs = fmt::format("encoder.layers.{}.", layer), ours = fmt::format("encoder.{}.", layer);
    add_attention(tensors, theirs + "self_attn", ours + "attention");
    add_feed_forward(tensors, theirs, ours);
  }
  for (int64_t layer = 0; layer < sizes.decoder_layers; ++layer) {
    const std::string theirs = fmt::format("decoder.layers.{}.", layer), ours = fmt::format("decoder.{}.", layer);
    add_attention(tensors, theirs + "self_attn", ours + "attention");
    add_attention(tensors, theirs + "encoder_attn", ours + "cross_attention");
    add_feed_forward(tensors, theirs, ours);
  }
  HfTensor bias{.name = "final_logits_bias", .parts = {"logits_bias"}};
  bias.prefixed = false;
  bias.row = true;
  tensors.push_back(std::move(bias));
  return tensors;
}

const RegisterHf<MarianLayout> register_marian{"a Marian checkpoint that translates"};

}  // namespace
}  // namespace headprune
