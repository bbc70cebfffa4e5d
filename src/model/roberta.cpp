// Family `roberta`: checkpoints of RoBERTa (Liu et al. 2019): BERT's encoder, positions that start behind the padding
// index, and a two-layer classifier on the first position instead of the pooler.
#include "model/bert_layout.h"
#include "model/hf_family.h"

namespace headprune {
namespace {

class RobertaLayout final : public HfLayout {
 public:
  std::string model_type() const override { return "roberta"; }
  std::string prefix() const override { return "roberta."; }
  std::string architecture() const override { return "RobertaForSequenceClassification"; }
  TransformerConfig sizes(const HfConfig& config) const override {
    // Position ids count the tokens that are not padding, from the padding index + 1 on.
    const int64_t padding = config.has("pad_token_id") ? static_cast<int64_t>(config.number("pad_token_id", 1)) : 1;
    TransformerConfig sizes = bert_sizes(config, padding + 1);
    sizes.uncounted_token = padding;
    // RoBERTa was trained without token types, and its tokenizer gives none; a template that has some means nothing.
    sizes.ignores_token_types = sizes.token_types == 1;
    return sizes;
  }
  std::vector<HfTensor> tensors(const TransformerConfig& sizes) const override {
    std::vector<HfTensor> tensors = bert_encoder_tensors(sizes);
    add_head_layer(tensors, "classifier.dense", "pooler");
    add_head_layer(tensors, "classifier.out_proj", "head");
    return tensors;
  }
  bool left_out(const std::string& name) const override {
    return name == "embeddings.position_ids" || name == "embeddings.token_type_ids" || name.starts_with("pooler.") ||
           name.starts_with("lm_head.");
  }
};

const RegisterHf<RobertaLayout> register_roberta{"a RoBERTa checkpoint with a classifier"};

}  // namespace
}  // namespace headprune
