#include "model/layers.h"

#include <cmath>

#include "core/error.h"

namespace headprune {

torch::Tensor sinusoidal_positions(int64_t length, int64_t d_model, const torch::TensorOptions& options) {
  const auto exact = torch::TensorOptions(torch::kFloat64).device(options.device());
  const torch::Tensor pair = torch::arange((d_model + 1) / 2, exact) * (2.0 / static_cast<double>(d_model));
  const torch::Tensor angles = torch::arange(length, exact).unsqueeze(1) * torch::pow(10000.0, -pair);  // [T, C/2]
  const torch::Tensor both = torch::stack({angles.sin(), angles.cos()}, -1).flatten(1);  // [T, C or C + 1]
  return both.narrow(1, 0, d_model).to(options.dtype());                                 // [T, C]
}

LayerNorm::LayerNorm(int64_t d_model, double eps)
    : eps_(eps),
      weight_(register_parameter("weight", torch::ones({d_model}))),
      bias_(register_parameter("bias", torch::zeros({d_model}))) {}

torch::Tensor LayerNorm::forward(const torch::Tensor& x) const {
  return at::layer_norm(x, weight_.sizes(), weight_, bias_, eps_);
}

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  if (activation == Activation::relu) return at::relu(x);
  return at::gelu(x, activation == Activation::gelu_tanh ? "tanh" : "none");
}

FeedForward::FeedForward(const LayerConfig& config)
    : activation_(config.activation),
      up_(register_module("up", std::make_shared<Projection>(config.d_model, config.d_ff))),
      down_(register_module("down", std::make_shared<Projection>(config.d_ff, config.d_model))) {}

torch::Tensor FeedForward::forward(const torch::Tensor& x) const {
  const torch::Tensor hidden = up_->forward(x);          // [B, T, d_ff]
  return down_->forward(activate(hidden, activation_));  // [B, T, C]
}

Embeddings::Embeddings(const EmbeddingConfig& config)
    : config_(config), tokens_(register_parameter("tokens", torch::zeros({config.vocabulary_size, config.d_model}))) {
  if (config.positions == Positions::learned)
    positions_ =
        register_parameter("positions", torch::zeros({config.position_offset + config.max_length, config.d_model}));
  if (config.token_types > 0)
    token_types_ = register_parameter("token_types", torch::zeros({config.token_types, config.d_model}));
}

torch::Tensor Embeddings::forward(const torch::Tensor& tokens, const torch::Tensor& token_types) const {
  const int64_t T = tokens.size(1);
  torch::Tensor x = at::embedding(tokens_, tokens);  // [B, T, C]
  if (token_types_.defined())
    x = x + (token_types.defined() ? at::embedding(token_types_, token_types) : token_types_[0]);  // [B, T, C]
  if (config_.positions == Positions::sinusoidal)
    return x * std::sqrt(static_cast<double>(config_.d_model)) + sinusoidal_positions(T, config_.d_model, x.options());
  if (T > config_.max_length)
    fail(ExitCode::run_failed,
         "a sequence of {} tokens is longer than the model's {} learned positions; lower "
         "data.max_length",
         T, config_.max_length);
  return x + positions_.narrow(0, config_.position_offset, T);  // [B, T, C]
}

Block::Block(const LayerConfig& config)
    : norm_(config.norm),
      dropout_(config.dropout),
      attention_(
          register_module("attention", std::make_shared<Attention>(config.d_model, config.layout, config.dropout))),
      feed_forward_(register_module("feed_forward", std::make_shared<FeedForward>(config))),
      attention_norm_(
          register_module("attention_norm", std::make_shared<LayerNorm>(config.d_model, config.layer_norm_eps))),
      feed_forward_norm_(
          register_module("feed_forward_norm", std::make_shared<LayerNorm>(config.d_model, config.layer_norm_eps))) {}

BlockHalf Block::attend(const torch::Tensor& x, const Visibility& visibility, bool weights, bool first_only) {
  const torch::Tensor keys = norm_ == NormOrder::pre ? attention_norm_->forward(x) : x;  // [B, S, C]
  if (!first_only) return {x, attention_->attend(keys, keys, visibility, weights)};
  // Copied, so that who keeps it does not keep the other positions.
  const torch::Tensor residual = x.narrow(1, 0, 1).contiguous();  // [B, 1, C]
  return {residual, attention_->attend(keys.narrow(1, 0, 1), keys, visibility, weights)};
}

torch::Tensor Block::finish(const BlockHalf& half, const torch::Tensor& gates) const {
  const auto drop = [this](const torch::Tensor& added) { return at::dropout(added, dropout_, is_training()); };
  const bool pre = norm_ == NormOrder::pre;
  torch::Tensor sum = half.residual + drop(attention_->combine(half.heads.context, gates));  // [B, T, C]
  if (!pre) sum = attention_norm_->forward(sum);
  const torch::Tensor result = sum + drop(feed_forward_->forward(pre ? feed_forward_norm_->forward(sum) : sum));
  return pre ? result : feed_forward_norm_->forward(result);
}

}  // namespace headprune
