// `perplexity`: the exponential of the loss.
#include <cmath>

#include "metric/metric.h"

namespace headprune {
namespace {

class Perplexity final : public CorpusMetric {
 public:
  using Options = NoOptions;
  explicit Perplexity(Options) {}
  std::vector<DataKind> kinds() const override { return {DataKind::language, DataKind::translation}; }
  MetricInfo info(DataKind) const override {
    return {.higher_is_better = false, .range = {.low = 1}, .unit = "tokens to choose among"};
  }

 protected:
  ExampleMetric of_corpus(const Outcomes& outcomes) const override {
    return weighted_sums(
        outcomes,
        [](const Outcome& outcome) {
          return WeightedValue{outcome.loss, outcome.weight};
        },
        [](std::span<const double> sums) { return std::exp(sums[0] / sums[1]); });
  }
};

const Register<Metric, Perplexity> register_perplexity{"perplexity", "exponential of the loss per token"};

}  // namespace
}  // namespace headprune
