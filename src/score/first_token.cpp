// Mean over examples of the mean over query positions of the attention to the first position: an attention sink's share
// (Gu et al. 2024; Xiao et al. 2023). What mostly looks there moves little, so large goes first. A group has the mean
// of its heads'.
#include "score/position_mean.h"

namespace headprune {
namespace {

class FirstToken final : public PositionMean {
 public:
  explicit FirstToken(Options options) : PositionMean("first_token", options) {}
  Keep keep() const override { return Keep::small; }
  Needs needs() const override {
    Needs needs;
    needs.attention_weights = true;
    return needs;
  }
  torch::Tensor values(const Observation& seen, size_t index) const override {
    return seen.trace.weights[index].select(-1, 0).to(torch::kFloat64);  // [B, H, T]
  }
};

const Register<ScoreMethod, FirstToken> register_first_token{
    "first_token", "attention to the first position, an attention sink's share; large goes first; no gradients"};

}  // namespace
}  // namespace headprune
