// Mean over examples of the head's mean context norm over query positions, divided by the mean of that over the heads of
// its layer, example by example (AHON-LN of Identifying and Evaluating Inactive Heads in Pretrained LLMs, 2025). Layers are
// comparable by construction. A group has the mean of its heads' norms.
#include "score/accumulate.h"

namespace headprune {
namespace {

class OutputNormRatio final : public ScoreMethod {
 public:
  struct Options {
    QueryPositions positions = QueryPositions::all;
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      v("positions", positions, kPositionsHelp);
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit OutputNormRatio(Options options) : options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override { return note_of(options_.positions, unit()); }
  Needs needs() const override {
    Needs needs;
    needs.contexts = true;
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<Collect>(options_, input);
  }

 private:
  class Collect final : public Pass {
   public:
    Collect(const Options& options, const ScoreInput& input)
        : options_(options),
          model_(input.model),
          survives_(surviving_heads(model_.blocks(), input.removed)),
          mean_("output_norm_ratio", input) {}

    void add(const Observation& seen) override {
      for (size_t b = 0; b < survives_.size(); ++b) {
        if (survives_[b].numel() == 0) continue;
        const torch::Tensor rows = query_rows(model_, b, seen.batch, options_.positions);       // [B, 1, T]
        const torch::Tensor counted = rows.sum(-1);                                             // [B, 1]
        torch::Tensor norm = seen.trace.contexts[b].to(torch::kFloat64).norm(2, -1);            // [B, H, T]
        norm = torch::where(rows, norm, torch::zeros({}, norm.options()));
        const torch::Tensor alive = survives_[b].to(norm.device());                             // [H]
        const torch::Tensor of_head = alive * norm.sum(-1) / counted.clamp_min(1);              // [B, H]
        const torch::Tensor layer = of_head.sum(-1, /*keepdim=*/true) / alive.sum().clamp_min(1);  // [B, 1]
        const torch::Tensor of_units = mean_.units().mean(of_head, b);                          // [B, U]
        // Where a layer gives nothing, all its heads give what its mean gives.
        mean_.add(b, torch::where(layer == 0, torch::ones_like(of_units), of_units / layer), seen.batch,
                  counted.squeeze(1) > 0);
      }
    }
    RawScores finish() override { return mean_.finish(); }

   private:
    Options options_;
    const Model& model_;
    PerBlock survives_;  // [H] bool
    ExampleMean mean_;
  };

  Options options_;
};

const Register<ScoreMethod, OutputNormRatio> register_output_norm_ratio{
    "output_norm_ratio", "the head's context norm over its layer's mean, example by example (AHON-LN, 2025); no gradients"};

}  // namespace
}  // namespace headprune
