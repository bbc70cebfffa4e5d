// Normalization over the last dimension.
#pragma once

#include "config/fields.h"
#include "core/torch.h"

namespace headprune {

/// `layer` (Ba et al. 2016): mean 0, variance 1, then a gain and a shift. `rms` (Zhang and Sennrich 2019): divided by
/// the root of the mean square, then a gain.
enum class NormType { layer, rms };
template <>
struct EnumNames<NormType> {
  static constexpr std::pair<const char*, NormType> names[] = {{"layer", NormType::layer}, {"rms", NormType::rms}};
};

struct NormConfig {
  NormType type = NormType::layer;
  double eps = 1e-5;  // added to the variance, or to the mean square
};

class Norm : public torch::nn::Module {
 public:
  /// Gain 1, shift 0.
  Norm(int64_t width, const NormConfig& config);
  torch::Tensor forward(const torch::Tensor& x) const;  // [..., width] to [..., width]

 private:
  NormConfig config_;
  torch::Tensor weight_;  // [width]
  torch::Tensor bias_;    // [width]; undefined with rms
};

}  // namespace headprune
