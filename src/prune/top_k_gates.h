// Differentiable subset pruning (Li, Cotterell and Sachan 2021, arXiv 2108.04657): gates that add up to k.
#pragma once

#include "prune/learned.h"

namespace headprune {

/// Gumbel noise is added to one weight a unit, r = w + Gumbel, and k soft choices without replacement are added up
/// (their section 3.2, after Xie and Ermon 2019):
///
///     p_j = softmax(r / temperature),  r <- r + ln(1 - p_j),  gates = p_1 + ... + p_k
///
/// The temperature falls log-linearly from `from` to `to` over the steps.
class TopKGates final : public GateSource {
 public:
  struct Start {
    int64_t k = 1;      // units that stay
    int64_t steps = 1;  // of the training
    double from = 1000, to = 1e-8;
    bool straight_through = false;  // gates of 0 and 1, with the gradient of the soft ones
    uint64_t seed = 0;
  };
  TopKGates(const GateUnits& units, const Start& start);

  NamedTensors parameters() const override { return {{"weight", weight_}}; }
  PerBlock gates(int64_t step) override;
  /// temperature: of the last step.
  std::vector<std::pair<std::string, double>> measurements() const override;

  const torch::Tensor& weight() const { return weight_; }  // [U] float64
  double temperature(int64_t step) const;
  /// Gates [U] of noisy weights r [U].
  static torch::Tensor soft_top_k(const torch::Tensor& r, int64_t k, double temperature);

 private:
  const GateUnits& units_;
  Start start_;
  torch::Tensor weight_;
  int64_t step_ = 0;
};

}  // namespace headprune
