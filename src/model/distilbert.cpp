// Family `distilbert`: checkpoints of DistilBERT (Sanh et al. 2019): BERT without token types, and a layer with ReLU
// instead of the pooler.
#include "model/bert_layout.h"
#include "model/hf_family.h"

namespace headprune {
namespace {

class DistilBertLayout final : public HfLayout {
 public:
  std::string model_type() const override { return "distilbert"; }
  std::string prefix() const override { return "distilbert."; }
  std::string architecture() const override { return "DistilBertForSequenceClassification"; }
  TransformerConfig sizes(const HfConfig& config) const override;
  std::vector<HfTensor> tensors(const TransformerConfig& sizes) const override;
  bool left_out(const std::string& name) const override {
    return name == "embeddings.position_ids" || name.starts_with("vocab_");
  }
};

TransformerConfig DistilBertLayout::sizes(const HfConfig& config) const {
  TransformerConfig sizes;
  sizes.architecture = Architecture::encoder;
  sizes.d_model = config.size("dim");
  sizes.layers = config.size("n_layers");
  sizes.heads = config.size("n_heads");
  set_head_widths(sizes, config);
  sizes.d_ff = config.size("hidden_dim");
  sizes.activation = config.activation("activation", "gelu");
  sizes.norm = NormOrder::post;
  sizes.layer_norm_eps = 1e-12;  // fixed in transformers
  sizes.dropout = config.number("dropout", 0.1);
  sizes.pooler = Pooler::relu;
  sizes.vocabulary_size = config.size("vocab_size");
  sizes.max_length = config.size("max_position_embeddings");  // sinusoidal ones stand in the file too
  sizes.outputs = config.outputs();
  return sizes;
}

std::vector<HfTensor> DistilBertLayout::tensors(const TransformerConfig& sizes) const {
  std::vector<HfTensor> tensors = {
      {.name = "embeddings.word_embeddings.weight",
       .parts = {"embeddings.tokens"},
       .copies = {"vocab_projector.weight"}},
      {.name = "embeddings.position_embeddings.weight", .parts = {"embeddings.positions"}},
  };
  add_layer(tensors, "embeddings.LayerNorm", "norm");
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string theirs = fmt::format("transformer.layer.{}.", layer), ours = fmt::format("blocks.{}.", layer);
    for (const auto& [part, own] :
         {std::pair("q", "query"), std::pair("k", "key"), std::pair("v", "value"), std::pair("out", "output")})
      add_layer(tensors, fmt::format("{}attention.{}_lin", theirs, part), fmt::format("{}attention.{}", ours, own));
    add_layer(tensors, theirs + "sa_layer_norm", ours + "attention_norm");
    add_layer(tensors, theirs + "ffn.lin1", ours + "feed_forward.up");
    add_layer(tensors, theirs + "ffn.lin2", ours + "feed_forward.down");
    add_layer(tensors, theirs + "output_layer_norm", ours + "feed_forward_norm");
  }
  add_head_layer(tensors, "pre_classifier", "pooler");
  add_head_layer(tensors, "classifier", "head");
  return tensors;
}

const RegisterHf<DistilBertLayout> register_distilbert{"a DistilBERT checkpoint with a classifier"};

}  // namespace
}  // namespace headprune
