#include "model/transformer.h"

#include "model/dropout.h"

namespace headprune {

Transformer::Transformer(const TransformerConfig& config, const HeadSet& removed)
    : TransformerModel(config),
      embeddings_(
          register_module("embeddings", std::make_shared<Embeddings>(embedding_config(config.vocabulary_size)))),
      norm_(register_module("norm", std::make_shared<Norm>(config.d_model, norm_config()))) {
  const auto stack = register_module("blocks", std::make_shared<torch::nn::Module>());
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks_.push_back(stack->register_module(std::to_string(layer), std::make_shared<Block>(layer_config(layer))));
  if (config.pooler != Pooler::none)
    pooler_ = register_module("pooler", std::make_shared<Projection>(config.d_model, config.d_model));
  if (const int64_t outputs = output_layer_size(config); outputs > 0)
    head_ = register_module("head", std::make_shared<Projection>(config.d_model, outputs, config.head_bias));
  remove_heads(removed);
}

Blocks Transformer::blocks() const {
  const Kind kind = classifies() ? Kind::encoder : Kind::decoder;
  Blocks blocks;
  for (size_t layer = 0; layer < blocks_.size(); ++layer)
    blocks.push_back(heads_present({kind, static_cast<int64_t>(layer)}, blocks_[layer]->attention()));
  return blocks;
}

TransformerModel::Stream Transformer::begin(const Batch& batch) const {
  const torch::Tensor types = sizes().ignores_token_types ? torch::Tensor() : batch.token_types;
  torch::Tensor x = embeddings_->forward(batch.tokens, types);  // [B, T, C]
  if (sizes().norm == NormOrder::post) x = norm_->forward(x);
  return {.x = apply_dropout(x, sizes().dropout, is_training()), .memory = {}};
}

BlockHalf Transformer::attend(size_t block, const Stream& stream, const Batch& batch, const Wanted& wanted) {
  // Where the last block's first position is all that the classifier looks at, nothing else of it is computed.
  const bool first_only = !wanted.everywhere && first_position_only(block);
  return blocks_.at(block)->attend(stream.x, batch.padded ? batch.present : torch::Tensor(), wanted.weights,
                                   first_only);
}

void Transformer::finish(size_t block, const BlockHalf& half, const torch::Tensor& gates, const Batch&,
                         Stream& stream) {
  stream.x = blocks_.at(block)->finish(half, gates);  // [B, T, C]
}

torch::Tensor Transformer::states(const Stream& stream) const {
  return sizes().norm == NormOrder::pre ? norm_->forward(stream.x) : stream.x;  // [B, T, C]
}

ModelOutput Transformer::encode(const Batch& batch, const HeadProbe& probe) {
  ModelOutput result;
  result.values = states(trace(batch, probe, result.heads));
  return result;
}

torch::Tensor Transformer::read_out(const Stream& stream, const Batch& batch) const {
  const torch::Tensor states = this->states(stream);  // [B, T, C]
  // What is read out is float32, whatever hidden layers compute with.
  if (!classifies())
    return head_ ? head_->read_out(states) : linear_layer(states, embeddings_->tokens(), {});  // [B, T, vocabulary]
  torch::Tensor pooled;
  if (sizes().pooling == Pooling::cls) {
    pooled = states.select(1, 0);  // [B, C]
  } else if (!batch.padded) {
    pooled = states.mean(1);  // [B, C]
  } else {
    const torch::Tensor present = batch.present.unsqueeze(2).to(states.scalar_type());  // [B, T, 1]
    pooled = (states * present).sum(1) / present.sum(1);                                // [B, C]
  }
  if (pooler_) {
    pooled = pooler_->forward(pooled);  // [B, C]
    pooled = sizes().pooler == Pooler::tanh ? pooled.tanh() : pooled.relu();
  }
  return head_->read_out(apply_dropout(pooled, sizes().dropout, is_training()));  // [B, outputs]
}

std::optional<int64_t> Transformer::layers_above(const std::string& parameter) const {
  for (int64_t layer = 0; layer < sizes().layers; ++layer)
    if (parameter.starts_with(fmt::format("blocks.{}.", layer))) return sizes().layers - 1 - layer;
  const bool first = parameter.starts_with("embeddings.") ||
                     (parameter.starts_with("norm.") && sizes().norm == NormOrder::post);  // after the embeddings
  return first ? sizes().layers : 0;
}

}  // namespace headprune
