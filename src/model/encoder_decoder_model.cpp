#include "model/encoder_decoder_model.h"

#include "model/blank.h"
#include "model/dropout.h"

namespace headprune {
namespace {

AttentionConfig without_positions(AttentionConfig config) {
  config.positions = nullptr;
  config.own_positions = false;
  return config;
}

}  // namespace

DecoderLayer::DecoderLayer(const LayerConfig& config)
    : pattern_(config.pattern),
      self_(register_module("attention", std::make_shared<Attention>(config.attention))),
      cross_(register_module("cross_attention", std::make_shared<Attention>(without_positions(config.attention)))),
      feed_forward_(register_module("feed_forward", std::make_shared<FeedForward>(config.feed_forward))) {
  around_self_ = make_residual(*this, "attention_norm", config);
  around_cross_ = make_residual(*this, "cross_attention_norm", config);
  around_feed_forward_ = make_residual(*this, "feed_forward_norm", config);
}

BlockHalf DecoderLayer::attend_self(const torch::Tensor& x, bool weights) {
  // Padding stands at the end, where no real position looks.
  const torch::Tensor keys = around_self_.read(x);  // [B, T, C]
  return {x, self_->attend(keys, keys, Visibility(pattern_), weights)};
}

BlockHalf DecoderLayer::attend_next(const torch::Tensor& x, KeyValueCache& past, bool weights) {
  return {x, past.attend(*self_, around_self_.read(x), Visibility(pattern_), weights)};
}

torch::Tensor DecoderLayer::finish_self(const BlockHalf& half, const torch::Tensor& gates) const {
  return around_self_.add(half.residual, self_->combine(half.heads.context, gates), is_training());  // [B, T, C]
}

BlockHalf DecoderLayer::attend_cross(const torch::Tensor& x, const KeyValues& source, const Visibility& visible,
                                     bool weights) {
  return {x, cross_->attend(around_cross_.read(x), source, visible, weights)};
}

torch::Tensor DecoderLayer::finish_cross(const BlockHalf& half, const torch::Tensor& gates) const {
  const torch::Tensor sum = around_cross_.add(half.residual, cross_->combine(half.heads.context, gates),
                                              is_training());  // [B, T, C]
  return around_feed_forward_.add(sum, feed_forward_->forward(around_feed_forward_.read(sum)), is_training());
}

EncoderDecoder::EncoderDecoder(const TransformerConfig& config, const HeadSet& removed)
    : TransformerModel(config),
      embeddings_(
          register_module("embeddings", std::make_shared<Embeddings>(embedding_config(config.vocabulary_size)))) {
  if (config.target_vocabulary_size > 0)
    target_embeddings_ = register_module("target_embeddings",
                                         std::make_shared<Embeddings>(embedding_config(config.target_vocabulary_size)));
  const auto encoder = register_module("encoder", std::make_shared<torch::nn::Module>());
  const auto positions = stack_positions(Kind::encoder), decoder_positions = stack_positions(Kind::decoder);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    encoder_.push_back(encoder->register_module(
        std::to_string(layer), std::make_shared<Block>(layer_config({Kind::encoder, layer}, positions))));
  const auto decoder = register_module("decoder", std::make_shared<torch::nn::Module>());
  for (int64_t layer = 0; layer < config.decoder_layers; ++layer)
    decoder_.push_back(decoder->register_module(
        std::to_string(layer),
        std::make_shared<DecoderLayer>(layer_config({Kind::decoder, layer}, decoder_positions))));
  if (positions) register_module("positions", positions);
  if (decoder_positions) register_module("decoder_positions", decoder_positions);
  if (config.norm == NormOrder::pre) {
    norm_ = register_module("norm", std::make_shared<Norm>(config.d_model, norm_config()));
    decoder_norm_ = register_module("decoder_norm", std::make_shared<Norm>(config.d_model, norm_config()));
  }
  if (const int64_t outputs = output_layer_size(config); outputs > 0)
    head_ = register_module("head", std::make_shared<Projection>(config.d_model, outputs, true, shared_products()));
  if (config.logits_bias) logits_bias_ = register_buffer("logits_bias", blank({config.written_tokens()}));
  remove_heads(removed);
}

size_t EncoderDecoder::layer_of(size_t block) const {
  TORCH_CHECK(block < encoder_.size() + 2 * decoder_.size(), "no block ", block);
  if (in_encoder(block)) return block;
  return block - encoder_.size() - (is_cross(block) ? decoder_.size() : 0);
}

Attention& EncoderDecoder::attention(size_t index) {
  const size_t layer = layer_of(index);
  if (in_encoder(index)) return encoder_[layer]->attention();
  return is_cross(index) ? decoder_[layer]->cross() : decoder_[layer]->self();
}

Blocks EncoderDecoder::blocks() const {
  Blocks blocks;
  const auto add = [&](Kind kind, size_t layer, const Attention& attention) {
    blocks.push_back(heads_present({kind, static_cast<int64_t>(layer)}, attention));
  };
  for (size_t layer = 0; layer < encoder_.size(); ++layer) add(Kind::encoder, layer, encoder_[layer]->attention());
  for (size_t layer = 0; layer < decoder_.size(); ++layer) add(Kind::decoder, layer, decoder_[layer]->self());
  for (size_t layer = 0; layer < decoder_.size(); ++layer) add(Kind::cross, layer, decoder_[layer]->cross());
  return blocks;
}

torch::Tensor EncoderDecoder::embed(const Embeddings& embeddings, const torch::Tensor& tokens, int64_t first) const {
  return apply_dropout(embeddings.forward(tokens, {}, first), sizes().dropout, is_training());  // [B, T, C]
}

TransformerModel::Stream EncoderDecoder::begin(const Batch& batch) const {
  TORCH_CHECK(batch.decoder_tokens.defined(), "an encoder-decoder needs a batch with both sides");
  return {.x = embed(*embeddings_, batch.tokens), .memory = {}};  // [B, S, C]
}

BlockHalf EncoderDecoder::attend(size_t block, const Stream& stream, const Batch& batch, const Wanted& wanted) {
  const size_t layer = layer_of(block);
  const Visibility source(full_pattern(), batch.padded ? batch.present : torch::Tensor());
  if (in_encoder(block))
    return encoder_[layer]->attend(stream.x, batch.padded ? batch.present : torch::Tensor(), wanted.weights);
  if (!is_cross(block)) return decoder_[layer]->attend_self(stream.x, wanted.weights);
  const KeyValues keys = decoder_[layer]->cross().project(stream.memory);
  return decoder_[layer]->attend_cross(stream.x, keys, source, wanted.weights);
}

void EncoderDecoder::finish(size_t block, const BlockHalf& half, const torch::Tensor& gates, const Batch& batch,
                            Stream& stream) {
  const size_t layer = layer_of(block);
  if (!in_encoder(block)) {
    stream.x = is_cross(block) ? decoder_[layer]->finish_cross(half, gates)  // [B, T, C]
                               : decoder_[layer]->finish_self(half, gates);  // [B, T, C]
    return;
  }
  stream.x = encoder_[layer]->finish(half, gates);  // [B, S, C]
  if (layer + 1 < encoder_.size()) return;
  stream.memory = norm_ ? norm_->forward(stream.x) : stream.x;  // [B, S, C]
  stream.x = embed(target_embeddings(), batch.decoder_tokens);  // [B, T, C]
}

torch::Tensor EncoderDecoder::logits(const torch::Tensor& x) const {
  const torch::Tensor states = decoder_norm_ ? decoder_norm_->forward(x) : x;  // [B, T, C]
  const torch::Tensor scores =
      head_ ? head_->read_out(states)
            : linear_layer(states, target_embeddings().tokens(), {}, products().library);  // [B, T, vocabulary]
  return logits_bias_.defined() ? scores + logits_bias_ : scores;
}

torch::Tensor EncoderDecoder::read_out(const Stream& stream, const Batch&) const { return logits(stream.x); }

WriterState EncoderDecoder::start(const torch::Tensor& memory, const Batch& batch) const {
  WriterState state;
  for (const auto& layer : decoder_) state.source.push_back(layer->cross().project(memory));
  state.written.resize(decoder_.size());
  if (batch.padded) state.source_present = batch.present;
  state.sentences = batch.size();
  return state;
}

ModelOutput EncoderDecoder::next(WriterState& state, const torch::Tensor& tokens, const HeadProbe& probe) {
  const torch::NoGradGuard no_grad;
  const int64_t N = tokens.size(0), T = tokens.size(1), B = state.sentences, C = sizes().d_model;
  TORCH_CHECK(B > 0 && N % B == 0, N, " hypotheses of ", B, " sentences");
  check_gates(probe.gates);
  ModelOutput output;
  if (probe.weights) output.heads.weights.resize(order().size());
  if (probe.contexts) output.heads.contexts.resize(order().size());
  // Of what the heads of a block give for the queries of B or N rows, that of each hypothesis's last position.
  const auto last = [&](const torch::Tensor& all) {
    const int64_t each = all.size(0) * all.size(2) / N;                                           // T or 1
    const torch::Tensor rows = all.transpose(1, 2).reshape({N, each, all.size(1), all.size(3)});  // [N, each, H, ...]
    return rows.narrow(1, each - 1, 1).transpose(1, 2);                                           // [N, H, 1, ...]
  };
  const auto show = [&](size_t block, const HeadContexts& heads) {
    if (probe.weights) output.heads.weights[block] = last(heads.weights);
    if (probe.contexts) output.heads.contexts[block] = last(heads.context);
  };

  const Visibility source(full_pattern(), state.source_present);
  torch::Tensor x = embed(target_embeddings(), tokens, state.length);  // [N, T, C]
  for (size_t layer = 0; layer < decoder_.size(); ++layer) {
    DecoderLayer& decoder = *decoder_[layer];
    const size_t self = encoder_.size() + layer, cross = self + decoder_.size();
    const BlockHalf own = decoder.attend_next(x, state.written[layer], probe.weights);
    show(self, own.heads);
    x = decoder.finish_self(own, gates_of(probe.gates, self));  // [N, T, C]
    // A sentence's hypotheses are as many queries of one source, whose keys then serve them all.
    const BlockHalf half =
        decoder.attend_cross(x.reshape({B, N / B * T, C}), state.source[layer], source, probe.weights);
    show(cross, half.heads);
    x = decoder.finish_cross(half, gates_of(probe.gates, cross)).reshape({N, T, C});  // [N, T, C]
  }
  state.length += T;
  output.values = logits(x.narrow(1, T - 1, 1)).squeeze(1);  // [N, vocabulary]
  return output;
}

std::optional<int64_t> EncoderDecoder::layers_above(const std::string& parameter) const {
  const auto layers = static_cast<int64_t>(encoder_.size()), above = static_cast<int64_t>(decoder_.size());
  for (int64_t layer = 0; layer < layers; ++layer)
    if (parameter.starts_with(fmt::format("encoder.{}.", layer))) return above + layers - 1 - layer;
  for (int64_t layer = 0; layer < above; ++layer)
    if (parameter.starts_with(fmt::format("decoder.{}.", layer))) return above - 1 - layer;
  for (const char* start : {"target_embeddings.", "decoder_positions.", "norm."})
    if (parameter.starts_with(start)) return above;
  return parameter.starts_with("embeddings.") || parameter.starts_with("positions.") ? above + layers : 0;
}

}  // namespace headprune
