// Mean over examples of the mean over query positions of the largest attention weight: how sure the head is (Voita et
// al. 2019, section 4, whose confidence leaves out the end-of-sequence token). A group has the mean of its heads'.
#include "score/position_mean.h"

namespace headprune {
namespace {

class Confidence final : public PositionMean {
 public:
  explicit Confidence(Options options) : PositionMean("confidence", options) {}
  Needs needs() const override {
    Needs needs;
    needs.attention_weights = true;
    return needs;
  }
  torch::Tensor values(const Observation& seen, size_t index) const override {
    return seen.trace.weights[index].to(torch::kFloat64).amax(-1);  // [B, H, T]
  }
  /// Special tokens behind the first position end a text, or a part of it.
  torch::Tensor left_out(const Observation& seen, Kind kind) const override {
    const torch::Tensor ends = special_mask(seen.batch, kind).clone();  // [B, 1, T]
    if (ends.size(-1) > 0) ends.select(-1, 0).fill_(false);
    return ends;
  }
};

const Register<ScoreMethod, Confidence> register_confidence{
    "confidence", "largest attention weight of a query (Voita et al. 2019); no gradients"};

}  // namespace
}  // namespace headprune
