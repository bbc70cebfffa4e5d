// Mean over examples of the squared gradient of the loss by the head's gate: the diagonal of the gates' empirical
// Fisher information (Kwon et al. 2022, section 4.1, by single examples). With `batches` the gradient of a batch's mean
// loss is squared in its place, as their code does with batches of 32: another number, which noise in the gradient
// enters less.
#include <map>

#include "score/accumulate.h"

namespace headprune {
namespace {

class Fisher final : public ScoreMethod {
 public:
  struct Options {
    std::optional<int64_t> batches;
    Normalize normalize = Normalize::none;
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      v("batches", batches,
        "square the gradient of the mean loss of so many neighbouring examples, for comparison with published code; "
        "absent: of each example. Whatever batches are computed, these are counted along the score split",
        at_least(1));
      v("normalize", normalize, "how the scores of different blocks are made comparable");
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit Fisher(Options options) : options_(options) {}
  Normalize normalize() const override { return options_.normalize; }
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override {
    return options_.batches ? fmt::format("gradients of {} examples together", *options_.batches) : "";
  }
  Needs needs() const override {
    Needs needs;
    needs.gate_gradients = true;
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    if (options_.batches) return std::make_unique<OfBatches>(*options_.batches, input);
    return std::make_unique<OfExamples>(input);
  }

 private:
  class OfExamples final : public Pass {
   public:
    explicit OfExamples(const ScoreInput& input) : mean_("fisher", input) {}
    void add(const Observation& seen) override {
      const ScoreUnits& units = mean_.units();
      for (size_t b = 0; b < units.blocks().size(); ++b)
        if (!units.blocks()[b].heads.empty())
          mean_.add(b, units.sum(seen.gate_gradients[b].to(torch::kFloat64), b).square(), seen.batch);  // [B, U]
    }
    RawScores finish() override { return mean_.finish(); }

   private:
    ExampleMean mean_;
  };

  class OfBatches final : public Pass {
   public:
    OfBatches(int64_t size, const ScoreInput& input)
        : size_(size), units_(input.units()), survives_(surviving_heads(units_.blocks(), units_.removed())) {}

    void add(const Observation& seen) override {
      const Blocks& blocks = units_.blocks();
      for (size_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].heads.empty()) continue;
        const torch::Tensor gradient =
            units_.sum(seen.gate_gradients[b].to(torch::kCPU, torch::kFloat64), b);  // [B, U]
        require_finite(gradient, seen.batch, {"fisher", blocks[b], survives_[b], units_.unit()});
        for (int64_t i = 0; i < seen.batch.size(); ++i) {
          Sum& sum = sums_[seen.batch.examples[static_cast<size_t>(i)] / size_];
          sum.gradients.resize(blocks.size());
          torch::Tensor& one = sum.gradients[b];
          one = one.defined() ? one + gradient[i] : gradient[i].clone();  // [U]
          sum.counted.resize(blocks.size());
          ++sum.counted[b];
        }
      }
    }
    RawScores finish() override {
      RawScores raw;
      for (size_t b = 0; b < survives_.size(); ++b) {
        torch::Tensor mean = torch::zeros(survives_[b].sizes(), torch::kFloat64);  // [U]
        int64_t examples = 0;
        for (const auto& [place, sum] : sums_) {
          if (survives_[b].numel() == 0) continue;
          mean = mean + (sum.gradients[b] / sum.counted[b]).square() / std::ssize(sums_);
          examples += sum.counted[b];
        }
        raw.values.push_back(mean);
        raw.n.push_back(examples);
      }
      return raw;
    }

   private:
    struct Sum {
      PerBlock gradients;  // [U] a block
      std::vector<int64_t> counted;
    };
    int64_t size_;
    ScoreUnits units_;
    PerBlock survives_;
    std::map<int64_t, Sum> sums_;  // by place of the batch in the split
  };

  Options options_;
};

const Register<ScoreMethod, Fisher> register_fisher{
    "fisher", "squared gradient of the loss by the head's gate (Kwon et al. 2022); one backward pass a batch"};

}  // namespace
}  // namespace headprune
