// Family `gpt2`: checkpoints of GPT-2 (Radford et al. 2019), a causal language model whose linear layers are stored
// [in, out] (Conv1D), with query, key and value side by side, and whose output layer is the token vectors.
#include "model/bert_layout.h"
#include "model/hf_family.h"

namespace headprune {
namespace {

class Gpt2Layout final : public HfLayout {
 public:
  std::string model_type() const override { return "gpt2"; }
  bool predicts(DataKind kind) const override { return is_language(kind); }
  std::string prefix() const override { return "transformer."; }
  std::string architecture() const override { return "GPT2LMHeadModel"; }
  TransformerConfig sizes(const HfConfig& config) const override;
  std::vector<HfTensor> tensors(const TransformerConfig& sizes) const override;
  bool left_out(const std::string& name) const override {
    return name == "lm_head.weight" || name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
  }
};

TransformerConfig Gpt2Layout::sizes(const HfConfig& config) const {
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("reorder_and_upcast_attn", false);
  config.require("add_cross_attention", false);
  config.require("tie_word_embeddings", true);
  TransformerConfig sizes;
  sizes.architecture = Architecture::decoder;
  sizes.d_model = config.size("n_embd");
  sizes.layers = config.size("n_layer");
  sizes.heads = config.size("n_head");
  set_head_widths(sizes, config);
  sizes.d_ff = config.size("n_inner", 4 * sizes.d_model);
  sizes.activation = config.activation("activation_function", "gelu_new");
  sizes.norm = NormOrder::pre;
  sizes.layer_norm_eps = config.number("layer_norm_epsilon", 1e-5);
  sizes.dropout = config.number("resid_pdrop", 0.1);
  sizes.tie_embeddings = true;
  sizes.vocabulary_size = config.size("vocab_size");
  sizes.max_length = config.size(config.has("n_positions") ? "n_positions" : "n_ctx", 1024);
  return sizes;
}

void add_conv1d(std::vector<HfTensor>& tensors, const std::string& theirs, const std::vector<std::string>& ours) {
  for (const char* part : {".weight", ".bias"}) {
    HfTensor tensor{.name = theirs + part, .parts = {}};
    for (const std::string& name : ours) tensor.parts.push_back(name + part);
    tensor.conv1d = true;
    tensors.push_back(std::move(tensor));
  }
}

std::vector<HfTensor> Gpt2Layout::tensors(const TransformerConfig& sizes) const {
  std::vector<HfTensor> tensors = {{.name = "wte.weight", .parts = {"embeddings.tokens"}, .copies = {"lm_head.weight"}},
                                   {.name = "wpe.weight", .parts = {"embeddings.positions"}}};
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string theirs = fmt::format("h.{}.", layer), ours = fmt::format("blocks.{}.", layer);
    add_layer(tensors, theirs + "ln_1", ours + "attention_norm");
    add_conv1d(tensors, theirs + "attn.c_attn",
               {ours + "attention.query", ours + "attention.key", ours + "attention.value"});
    add_conv1d(tensors, theirs + "attn.c_proj", {ours + "attention.output"});
    add_layer(tensors, theirs + "ln_2", ours + "feed_forward_norm");
    add_conv1d(tensors, theirs + "mlp.c_fc", {ours + "feed_forward.up"});
    add_conv1d(tensors, theirs + "mlp.c_proj", {ours + "feed_forward.down"});
  }
  add_layer(tensors, "ln_f", "norm");
  return tensors;
}

const RegisterHf<Gpt2Layout> register_gpt2{"a GPT-2 checkpoint as a language model"};

}  // namespace
}  // namespace headprune
