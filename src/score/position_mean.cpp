#include "score/position_mean.h"

namespace headprune {

class PositionMean::Collect final : public ScoreMethod::Pass {
 public:
  Collect(const PositionMean& method, const ScoreInput& input)
      : method_(method),
        model_(input.model),
        survives_(surviving_heads(model_.blocks(), input.removed)),
        mean_(method.name_, input) {}

  void add(const Observation& seen) override {
    for (size_t b = 0; b < survives_.size(); ++b) {
      if (survives_[b].numel() == 0) continue;
      torch::Tensor rows = query_rows(model_, b, seen.batch, method_.options_.positions);  // [B, 1, T]
      const Kind kind = mean_.units().blocks()[b].id.kind;
      if (const torch::Tensor out = method_.left_out(seen, kind); out.defined())
        rows = rows.logical_and(out.logical_not());
      const torch::Tensor values = method_.values(seen, b);                                             // [B, H, T]
      const torch::Tensor counted = rows.sum(-1);                                                       // [B, 1]
      const torch::Tensor kept = torch::where(rows, values, torch::zeros({}, values.options()));        // [B, H, T]
      const torch::Tensor survives = survives_[b].to(values.device());                                  // [H]
      const torch::Tensor of_heads = torch::where(survives, kept.sum(-1) / counted.clamp_min(1), 0.0);  // [B, H]
      mean_.add(b, mean_.units().mean(method_.compared(of_heads, survives), b), seen.batch, counted.squeeze(1) > 0);
    }
  }
  RawScores finish() override { return mean_.finish(); }

 private:
  const PositionMean& method_;
  const Model& model_;
  PerBlock survives_;  // [H] bool
  ExampleMean mean_;
};

std::unique_ptr<ScoreMethod::Pass> PositionMean::start(const ScoreInput& input, int64_t) const {
  return std::make_unique<Collect>(*this, input);
}

}  // namespace headprune
