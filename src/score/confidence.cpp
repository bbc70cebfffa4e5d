// Mean over examples of the mean over query positions of the largest attention weight: how sure the head is (Voita et al.
// 2019, section 4, whose confidence leaves out the end-of-sequence token). A group has the mean of its heads'.
#include "score/accumulate.h"

namespace headprune {
namespace {

class Confidence final : public ScoreMethod {
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
  explicit Confidence(Options options) : options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override { return note_of(options_.positions, unit()); }
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
        : options_(options), model_(input.model), mean_("confidence", input) {}

    void add(const Observation& seen) override {
      for (size_t b = 0; b < mean_.units().blocks().size(); ++b) {
        const BlockHeads& block = mean_.units().blocks()[b];
        if (block.heads.empty()) continue;
        torch::Tensor rows = query_rows(model_, b, seen.batch, options_.positions);  // [B, 1, T]
        // Special tokens behind the first position end a text, or a part of it.
        torch::Tensor ends = special_mask(seen.batch, block.id.kind).clone();  // [B, 1, T]
        if (ends.size(-1) > 0) ends.select(-1, 0).fill_(false);
        rows = rows.logical_and(ends.logical_not());
        torch::Tensor largest = seen.trace.weights[b].to(torch::kFloat64).amax(-1);  // [B, H, T]
        largest = torch::where(rows, largest, torch::zeros({}, largest.options()));
        const torch::Tensor counted = rows.sum(-1);                                                    // [B, 1]
        const torch::Tensor of_units = mean_.units().mean(largest.sum(-1) / counted.clamp_min(1), b);  // [B, U]
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

const Register<ScoreMethod, Confidence> register_confidence{
    "confidence", "largest attention weight of a query (Voita et al. 2019); no gradients"};

}  // namespace
}  // namespace headprune
