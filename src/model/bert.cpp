// Family `bert`: checkpoints of BERT (Devlin et al. 2019), with its pooler and a classifier on it.
#include "model/bert_layout.h"
#include "model/hf_family.h"

namespace headprune {

void add_layer(std::vector<HfTensor>& tensors, const std::string& theirs, const std::string& ours) {
  for (const char* part : {".weight", ".bias"}) tensors.push_back({.name = theirs + part, .parts = {ours + part}});
}

void add_head_layer(std::vector<HfTensor>& tensors, const std::string& theirs, const std::string& ours, bool prefixed) {
  const size_t before = tensors.size();
  add_layer(tensors, theirs, ours);
  for (size_t i = before; i < tensors.size(); ++i) {
    tensors[i].task_head = true;
    tensors[i].prefixed = prefixed;
  }
}

std::vector<HfTensor> bert_encoder_tensors(const TransformerConfig& sizes) {
  std::vector<HfTensor> tensors;
  for (const auto& [theirs, ours] :
       {std::pair("word", "tokens"), std::pair("position", "positions"), std::pair("token_type", "token_types")})
    tensors.push_back({.name = fmt::format("embeddings.{}_embeddings.weight", theirs),
                       .parts = {fmt::format("embeddings.{}", ours)}});
  tensors.front().copies = {"cls.predictions.decoder.weight", "lm_head.decoder.weight"};
  add_layer(tensors, "embeddings.LayerNorm", "norm");
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string theirs = fmt::format("encoder.layer.{}.", layer), ours = fmt::format("blocks.{}.", layer);
    for (const char* part : {"query", "key", "value"})
      add_layer(tensors, theirs + "attention.self." + part, ours + "attention." + part);
    add_layer(tensors, theirs + "attention.output.dense", ours + "attention.output");
    add_layer(tensors, theirs + "attention.output.LayerNorm", ours + "attention_norm");
    add_layer(tensors, theirs + "intermediate.dense", ours + "feed_forward.up");
    add_layer(tensors, theirs + "output.dense", ours + "feed_forward.down");
    add_layer(tensors, theirs + "output.LayerNorm", ours + "feed_forward_norm");
  }
  return tensors;
}

TransformerConfig bert_sizes(const HfConfig& config, int64_t position_offset) {
  config.require("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  TransformerConfig sizes;
  sizes.architecture = Architecture::encoder;
  sizes.d_model = config.size("hidden_size");
  sizes.layers = config.size("num_hidden_layers");
  sizes.heads = config.size("num_attention_heads");
  set_head_widths(sizes, config);
  sizes.d_ff = config.size("intermediate_size");
  sizes.activation = config.activation("hidden_act", "gelu");
  sizes.norm = NormOrder::post;
  sizes.layer_norm_eps = config.number("layer_norm_eps", 1e-12);
  sizes.dropout = config.number("hidden_dropout_prob", 0.1);
  sizes.pooler = Pooler::tanh;
  sizes.vocabulary_size = config.size("vocab_size");
  sizes.max_length = config.size("max_position_embeddings") - position_offset;
  sizes.position_offset = position_offset;
  sizes.token_types = config.size("type_vocab_size", 2);
  sizes.outputs = config.outputs();
  return sizes;
}

namespace {

class BertLayout final : public HfLayout {
 public:
  std::string model_type() const override { return "bert"; }
  std::string prefix() const override { return "bert."; }
  std::string architecture() const override { return "BertForSequenceClassification"; }
  TransformerConfig sizes(const HfConfig& config) const override { return bert_sizes(config, 0); }
  std::vector<HfTensor> tensors(const TransformerConfig& sizes) const override {
    std::vector<HfTensor> tensors = bert_encoder_tensors(sizes);
    add_head_layer(tensors, "pooler.dense", "pooler", true);
    add_head_layer(tensors, "classifier", "head");
    return tensors;
  }
  bool left_out(const std::string& name) const override {
    return name == "embeddings.position_ids" || name == "embeddings.token_type_ids" || name.starts_with("cls.");
  }
};

const RegisterHf<BertLayout> register_bert{"a BERT checkpoint with a classifier"};

}  // namespace
}  // namespace headprune
