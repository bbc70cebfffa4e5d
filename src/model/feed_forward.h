// The feed-forward part of a layer.
#pragma once

#include <memory>

#include "config/fields.h"
#include "model/projection.h"

namespace headprune {

/// `silu` is x sigmoid(x) (Marian's "swish"). `gelu` is exact (Hendrycks and Gimpel 2016, with erf); `gelu_tanh` is
/// their approximation, GPT-2's "gelu_new".
enum class Activation { gelu, gelu_tanh, relu, silu };
template <>
struct EnumNames<Activation> {
  static constexpr std::pair<const char*, Activation> names[] = {{"gelu", Activation::gelu},
                                                                 {"gelu_tanh", Activation::gelu_tanh},
                                                                 {"relu", Activation::relu},
                                                                 {"silu", Activation::silu}};
};
torch::Tensor activate(const torch::Tensor& x, Activation activation);

/// `plain`: down(f(up x)) (Vaswani et al. 2017, equation 2). `gated`: down(f(gate x) * up x) (Shazeer 2020).
enum class FeedForwardType { plain, gated };
template <>
struct EnumNames<FeedForwardType> {
  static constexpr std::pair<const char*, FeedForwardType> names[] = {{"plain", FeedForwardType::plain},
                                                                      {"gated", FeedForwardType::gated}};
};

struct FeedForwardConfig {
  int64_t d_model = 0, d_ff = 0;
  FeedForwardType type = FeedForwardType::plain;
  Activation activation = Activation::gelu;
  bool bias = true;
  SharedProducts products = {};
};

class FeedForward : public torch::nn::Module {
 public:
  explicit FeedForward(const FeedForwardConfig& config);
  torch::Tensor forward(const torch::Tensor& x) const;  // [B, T, C] to [B, T, C]

 private:
  Activation activation_;
  std::shared_ptr<Projection> gate_;  // null where it is plain
  std::shared_ptr<Projection> up_, down_;
};

}  // namespace headprune
