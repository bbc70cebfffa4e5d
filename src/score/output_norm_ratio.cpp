// Mean over examples of the head's mean context norm over query positions, divided by the mean of that over the heads
// of its layer, example by example (AHON-LN of Identifying and Evaluating Inactive Heads in Pretrained LLMs, 2025).
// Layers are comparable by construction. A group has the mean of its heads' norms.
#include "score/position_mean.h"

namespace headprune {
namespace {

class OutputNormRatio final : public PositionMean {
 public:
  explicit OutputNormRatio(Options options) : PositionMean("output_norm_ratio", options) {}
  Needs needs() const override {
    Needs needs;
    needs.contexts = true;
    return needs;
  }
  torch::Tensor values(const Observation& seen, size_t index) const override {
    return seen.trace.contexts[index].to(torch::kFloat64).norm(2, -1);  // [B, H, T]
  }
  torch::Tensor compared(const torch::Tensor& of_heads, const torch::Tensor& survives) const override {
    const torch::Tensor layer = of_heads.sum(-1, /*keepdim=*/true) / survives.sum().clamp_min(1);  // [B, 1]
    // Where a layer gives nothing, all its heads give what its mean gives.
    return torch::where(layer == 0, torch::ones_like(of_heads), of_heads / layer);  // [B, H]
  }
};

const Register<ScoreMethod, OutputNormRatio> register_output_norm_ratio{
    "output_norm_ratio",
    "the head's context norm over its layer's mean, example by example (AHON-LN, 2025); no gradients"};

}  // namespace
}  // namespace headprune
