// Mean over examples of the mean over query positions of the attention to the first position: an attention sink's share
// (Gu et al. 2024; Xiao et al. 2023). What mostly looks there moves little, so large goes first. A group has the mean of
// its heads'.
#include "score/accumulate.h"

namespace headprune {
namespace {

class FirstToken final : public ScoreMethod {
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
  explicit FirstToken(Options options) : options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override { return note_of(options_.positions, unit()); }
  Keep keep() const override { return Keep::small; }
  Needs needs() const override {
    Needs needs;
    needs.attention_weights = true;
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<Collect>(options_, input);
  }

 private:
  class Collect final : public Pass {
   public:
    Collect(const Options& options, const ScoreInput& input)
        : options_(options), model_(input.model), mean_("first_token", input) {}

    void add(const Observation& seen) override {
      for (size_t b = 0; b < mean_.units().blocks().size(); ++b) {
        if (mean_.units().blocks()[b].heads.empty()) continue;
        const torch::Tensor rows = query_rows(model_, b, seen.batch, options_.positions);   // [B, 1, T]
        torch::Tensor share = seen.trace.weights[b].select(-1, 0).to(torch::kFloat64);      // [B, H, T]
        share = torch::where(rows, share, torch::zeros({}, share.options()));
        const torch::Tensor counted = rows.sum(-1);                                                  // [B, 1]
        const torch::Tensor of_units = mean_.units().mean(share.sum(-1) / counted.clamp_min(1), b);  // [B, U]
        mean_.add(b, of_units, seen.batch, counted.squeeze(1) > 0);
      }
    }
    RawScores finish() override { return mean_.finish(); }

   private:
    Options options_;
    const Model& model_;
    ExampleMean mean_;
  };

  Options options_;
};

const Register<ScoreMethod, FirstToken> register_first_token{
    "first_token", "attention to the first position, an attention sink's share; large goes first; no gradients"};

}  // namespace
}  // namespace headprune
