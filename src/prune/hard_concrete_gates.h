// Hard-concrete gates (Louizos, Welling and Kingma 2018, arXiv 1712.01312), one a head (Voita et al. 2019).
#pragma once

#include "prune/learned.h"

namespace headprune {

/// A gate is a stretched binary concrete variable, cut to [0, 1], so that it is exactly 0 or 1 with a probability that
/// has a gradient:
///
///     s = sigmoid((ln u - ln(1 - u) + log_alpha) / beta),  gate = min(1, max(0, s (zeta - gamma) + gamma))
///     P(gate > 0) = sigmoid(log_alpha - beta ln(-gamma / zeta))
///
/// with u uniform, beta 0.33, gamma -0.1, zeta 1.1. The penalty is the sum over all gates of lambda times P(gate > 0).
class HardConcreteGates final : public GateSource {
 public:
  static constexpr double kBeta = 0.33, kGamma = -0.1, kZeta = 1.1;

  struct Start {
    double log_alpha = 2;
    torch::Tensor lambdas;  // [U] float64, of each unit
    uint64_t seed = 0;      // of the noise
  };
  HardConcreteGates(const GateUnits& units, const Start& start);

  NamedTensors parameters() const override { return {{"log_alpha", log_alpha_}}; }
  PerBlock gates(int64_t step) override;
  torch::Tensor penalty() const override;
  /// open_heads: the sum of P(gate > 0), in units.
  std::vector<std::pair<std::string, double>> measurements() const override;

  const torch::Tensor& log_alpha() const { return log_alpha_; }  // [U] float64
  torch::Tensor open_probability() const;                        // [U] float64
  /// [U]: where 0 is at least as probable a value as 1, which is where log_alpha is not above 0.
  torch::Tensor closed() const;
  /// Gates of uniform numbers u, of the same shape as log_alpha.
  static torch::Tensor sample(const torch::Tensor& log_alpha, const torch::Tensor& u);

 private:
  const GateUnits& units_;
  Start start_;
  torch::Tensor log_alpha_;
};

}  // namespace headprune
