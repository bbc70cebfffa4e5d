#include "model/layers.h"

#include <cmath>

#include "core/error.h"
#include "model/blank.h"
#include "model/dropout.h"

namespace headprune {
namespace {

/// Of the positions from `first` on, where each stands in its row's text, padding at the text's first; undefined where
/// nothing is padding.
torch::Tensor padded_places(int64_t first, int64_t count, const torch::Tensor& padding) {
  if (!padding.defined()) return {};
  const torch::Tensor columns = torch::arange(first, first + count, padding.options());  // [T]
  return (columns - padding.unsqueeze(1)).clamp_min(0);                                  // [B, T]
}

}  // namespace

Embeddings::Embeddings(const EmbeddingConfig& config)
    : config_(config), tokens_(register_parameter("tokens", blank({config.vocabulary_size, config.d_model}))) {
  if (config.positions == Positions::learned)
    positions_ = register_parameter("positions", blank({config.position_offset + config.max_length, config.d_model}));
  if (config.token_types > 0)
    token_types_ = register_parameter("token_types", blank({config.token_types, config.d_model}));
}

torch::Tensor Embeddings::forward(const torch::Tensor& tokens, const torch::Tensor& token_types, int64_t first,
                                  const torch::Tensor& padding) const {
  const int64_t T = tokens.size(1);
  const torch::Tensor places = padded_places(first, T, padding);  // [B, T]
  torch::Tensor x = at::embedding(tokens_, tokens);               // [B, T, C]
  if (token_types_.defined())
    x = x + (token_types.defined() ? at::embedding(token_types_, token_types) : token_types_[0]);  // [B, T, C]
  if (is_sinusoidal(config_.positions)) {
    const bool halves = config_.positions == Positions::sinusoidal_halves;
    if (config_.scale) x = x * std::sqrt(static_cast<double>(config_.d_model));
    const torch::Tensor table = sinusoidal_positions(first + T, config_.d_model, x.options(), halves);
    return x + (places.defined() ? at::embedding(table, places) : table.narrow(0, first, T));  // [B, T, C]
  }
  if (config_.positions != Positions::learned) return x;
  const int64_t length = first + T - (padding.defined() ? padding.min().item<int64_t>() : 0);
  if (length > config_.max_length)
    fail(ExitCode::run_failed,
         "a sequence of {} tokens is longer than the model's {} learned positions; lower "
         "data.max_length",
         length, config_.max_length);
  if (places.defined()) return x + at::embedding(positions_, places + config_.position_offset);  // [B, T, C]
  return x + learned_positions(tokens, first);                                                   // [B, T, C]
}

torch::Tensor Embeddings::learned_positions(const torch::Tensor& tokens, int64_t first) const {
  const torch::Tensor counted = config_.uncounted_token < 0 ? torch::Tensor() : tokens.ne(config_.uncounted_token);
  if (!counted.defined() || counted.all().item<bool>())
    return positions_.narrow(0, config_.position_offset + first, tokens.size(1));  // [T, C]
  TORCH_CHECK(first == 0, "positions are counted from the first token on");
  // The token that is not counted stands at the row before the first, wherever it is.
  const torch::Tensor places = counted.cumsum(1) * counted + (config_.position_offset - 1);  // [B, T]
  return at::embedding(positions_, places);                                                  // [B, T, C]
}

torch::Tensor Residual::add(const torch::Tensor& x, const torch::Tensor& added, bool training) const {
  const torch::Tensor sum = x + apply_dropout(added, dropout, training);  // [B, T, C]
  return order == NormOrder::post ? norm->forward(sum) : sum;
}

Residual make_residual(torch::nn::Module& owner, const std::string& name, const LayerConfig& config) {
  return {config.order, config.dropout,
          owner.register_module(name, std::make_shared<Norm>(config.attention.d_model, config.norm))};
}

Block::Block(const LayerConfig& config)
    : pattern_(config.pattern),
      attention_(register_module("attention", std::make_shared<Attention>(config.attention))),
      feed_forward_(register_module("feed_forward", std::make_shared<FeedForward>(config.feed_forward))) {
  around_attention_ = make_residual(*this, "attention_norm", config);
  around_feed_forward_ = make_residual(*this, "feed_forward_norm", config);
}

BlockHalf Block::attend(const torch::Tensor& x, const torch::Tensor& present, bool weights, bool first_only) {
  const Visibility visibility(pattern_, present);
  const torch::Tensor keys = around_attention_.read(x);  // [B, S, C]
  if (!first_only) return {x, attention_->attend(keys, keys, visibility, weights)};
  // Copied, so that who keeps it does not keep the other positions.
  const torch::Tensor residual = x.narrow(1, 0, 1).contiguous();  // [B, 1, C]
  return {residual, attention_->attend(keys.narrow(1, 0, 1), keys, visibility, weights)};
}

BlockHalf Block::attend_next(const torch::Tensor& x, KeyValueCache& past, const torch::Tensor& present, bool weights) {
  return {x, past.attend(*attention_, around_attention_.read(x), Visibility(pattern_, present), weights)};
}

torch::Tensor Block::finish(const BlockHalf& half, const torch::Tensor& gates) const {
  const torch::Tensor sum = around_attention_.add(half.residual, attention_->combine(half.heads.context, gates),
                                                  is_training());  // [B, T, C]
  return around_feed_forward_.add(sum, feed_forward_->forward(around_feed_forward_.read(sum)), is_training());
}

}  // namespace headprune
