#include "model/norm.h"

#include "model/blank.h"

namespace headprune {

Norm::Norm(int64_t width, const NormConfig& config)
    : config_(config), weight_(register_parameter("weight", blank({width}).fill_(1))) {
  if (config.type == NormType::layer) bias_ = register_parameter("bias", blank({width}));
}

torch::Tensor Norm::forward(const torch::Tensor& x) const {
  if (config_.type == NormType::layer) return at::layer_norm(x, weight_.sizes(), weight_, bias_, config_.eps);
  return x * at::rsqrt(x.square().mean(-1, /*keepdim=*/true) + config_.eps) * weight_;  // [..., width]
}

}  // namespace headprune
