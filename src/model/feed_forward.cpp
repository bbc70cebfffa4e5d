#include "model/feed_forward.h"

namespace headprune {

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  if (activation == Activation::relu) return at::relu(x);
  if (activation == Activation::silu) return at::silu(x);
  return at::gelu(x, activation == Activation::gelu_tanh ? "tanh" : "none");
}

FeedForward::FeedForward(const FeedForwardConfig& config) : activation_(config.activation) {
  const auto make = [&](const char* name, int64_t inputs, int64_t outputs) {
    return register_module(name, std::make_shared<Projection>(inputs, outputs, config.bias, config.products));
  };
  if (config.type == FeedForwardType::gated) gate_ = make("gate", config.d_model, config.d_ff);
  up_ = make("up", config.d_model, config.d_ff);
  down_ = make("down", config.d_ff, config.d_model);
}

torch::Tensor FeedForward::forward(const torch::Tensor& x) const {
  const torch::Tensor up = up_->forward(x);  // [B, T, d_ff]
  const torch::Tensor hidden =
      gate_ ? activate(gate_->forward(x), activation_) * up : activate(up, activation_);  // [B, T, d_ff]
  return down_->forward(hidden);                                                          // [B, T, C]
}

}  // namespace headprune
