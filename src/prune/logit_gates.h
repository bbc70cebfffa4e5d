// Gates between 0 and 1 that are drawn to one side (causal head gating, arXiv 2505.13737).
#pragma once

#include "prune/learned.h"

namespace headprune {

/// gate = sigmoid(logit), without noise. The loss gets -pull times the mean logit: above 0 gates are drawn to 1, below
/// to 0, and what the loss needs or suffers from stays where it is. Logits stay within [-clamp, clamp].
class LogitGates final : public GateSource {
 public:
  struct Start {
    torch::Tensor logits;  // [U] float64
    double pull = 0;
    double clamp = 4;
  };
  LogitGates(const GateUnits& units, const Start& start);

  NamedTensors parameters() const override { return {{"logit", logit_}}; }
  PerBlock gates(int64_t step) override;
  torch::Tensor penalty() const override { return -pull_ * logit_.mean(); }
  void confine() override;
  /// open_heads: the sum of the gates, in units.
  std::vector<std::pair<std::string, double>> measurements() const override;

  const torch::Tensor& logit() const { return logit_; }  // [U] float64
  torch::Tensor values() const { return torch::sigmoid(logit_.detach()); }

 private:
  const GateUnits& units_;
  double pull_, clamp_;
  torch::Tensor logit_;
};

}  // namespace headprune
