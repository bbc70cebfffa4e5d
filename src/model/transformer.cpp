#include "model/transformer.h"

#include "model/dropout.h"

namespace headprune {

Transformer::Transformer(const TransformerConfig& config, const HeadSet& removed)
    : TransformerModel(config),
      embeddings_(
          register_module("embeddings", std::make_shared<Embeddings>(embedding_config(config.vocabulary_size)))),
      norm_(register_module("norm", std::make_shared<Norm>(config.d_model, norm_config()))) {
  const auto stack = register_module("blocks", std::make_shared<torch::nn::Module>());
  const auto positions = stack_positions(kind());
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks_.push_back(stack->register_module(std::to_string(layer),
                                             std::make_shared<Block>(layer_config({kind(), layer}, positions))));
  if (positions) register_module("positions", positions);
  if (config.pooler != Pooler::none)
    pooler_ = register_module("pooler",
                              std::make_shared<Projection>(config.d_model, config.d_model, true, shared_products()));
  if (const int64_t outputs = output_layer_size(config); outputs > 0)
    head_ = register_module("head",
                            std::make_shared<Projection>(config.d_model, outputs, config.head_bias, shared_products()));
  remove_heads(removed);
}

Blocks Transformer::blocks() const {
  Blocks blocks;
  for (size_t layer = 0; layer < blocks_.size(); ++layer)
    blocks.push_back(heads_present({kind(), static_cast<int64_t>(layer)}, blocks_[layer]->attention()));
  return blocks;
}

torch::Tensor Transformer::embed(const Batch& batch, int64_t first, const torch::Tensor& padding) const {
  const torch::Tensor types = sizes().ignores_token_types ? torch::Tensor() : batch.token_types;
  torch::Tensor x = embeddings_->forward(batch.tokens, types, first, padding);  // [B, T, C]
  if (sizes().norm == NormOrder::post) x = norm_->forward(x);
  return apply_dropout(x, sizes().dropout, is_training());
}

TransformerModel::Stream Transformer::begin(const Batch& batch) const { return {.x = embed(batch), .memory = {}}; }

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
    return head_ ? head_->read_out(states)
                 : linear_layer(states, embeddings_->tokens(), {}, products().library);  // [B, T, vocabulary]
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

WriterState Transformer::start(const torch::Tensor& /*memory*/, const Batch& batch) const {
  TORCH_CHECK(!classifies(), "a classifier writes nothing");
  WriterState state;
  state.written.resize(blocks_.size());
  state.padding = padding_of(batch);
  state.sentences = batch.size();
  return state;
}

ModelOutput Transformer::next(WriterState& state, const torch::Tensor& tokens, const HeadProbe& probe) {
  const torch::NoGradGuard no_grad;
  const int64_t T = tokens.size(1);
  check_gates(probe.gates);
  ModelOutput output;
  if (probe.weights) output.heads.weights.resize(blocks_.size());
  if (probe.contexts) output.heads.contexts.resize(blocks_.size());
  Batch read;
  read.tokens = tokens;
  torch::Tensor x = embed(read, state.length, state.padding);     // [N, T, C]
  const torch::Tensor present = state.present(state.length + T);  // [N, S]
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const BlockHalf half = blocks_[b]->attend_next(x, state.written[b], present, probe.weights);
    if (probe.weights) output.heads.weights[b] = half.heads.weights;
    if (probe.contexts) output.heads.contexts[b] = half.heads.context.narrow(2, T - 1, 1);
    x = blocks_[b]->finish(half, gates_of(probe.gates, b));  // [N, T, C]
  }
  state.length += T;
  output.values = read_out({.x = x.narrow(1, T - 1, 1), .memory = {}}, read).squeeze(1);  // [N, vocabulary]
  return output;
}

std::optional<int64_t> Transformer::layers_above(const std::string& parameter) const {
  for (int64_t layer = 0; layer < sizes().layers; ++layer)
    if (parameter.starts_with(fmt::format("blocks.{}.", layer))) return sizes().layers - 1 - layer;
  const bool first = parameter.starts_with("embeddings.") || parameter.starts_with("positions.") ||
                     (parameter.starts_with("norm.") && sizes().norm == NormOrder::post);  // after the embeddings
  return first ? sizes().layers : 0;
}

}  // namespace headprune
