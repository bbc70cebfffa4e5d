// `matthews`: Matthews correlation; for more than two labels R_K (Gorodkin 2004). 0 when all targets or all predictions
// are equal.
#include <cmath>

#include "metric/confusion.h"

namespace headprune {
namespace {

double matthews_value(std::span<const double> sums, size_t labels) {
  double hits = 0, n = 0, both = 0, predictions = 0, targets = 0;
  for (size_t label = 0; label < labels; ++label) {
    const double p = sums[labels + label], t = sums[2 * labels + label];
    hits += sums[label];
    n += t;
    both += p * t;
    predictions += p * p;
    targets += t * t;
  }
  const double spread = (n * n - predictions) * (n * n - targets);
  return spread > 0 ? (hits * n - both) / std::sqrt(spread) : 0.0;
}

class Matthews final : public CorpusMetric {
 public:
  using Options = NoOptions;
  explicit Matthews(Options) {}
  std::vector<DataKind> kinds() const override { return {DataKind::labelled}; }
  MetricInfo info(DataKind) const override { return {.higher_is_better = true, .range = {-1, 1}, .unit = ""}; }
  bool needs_different_predictions() const override { return true; }

 protected:
  ExampleMetric of_corpus(const Outcomes& outcomes) const override {
    const auto labels = static_cast<size_t>(label_count(outcomes));
    return {.columns = confusion_columns(outcomes),
            .statistic = [labels](std::span<const double> sums) { return matthews_value(sums, labels); }};
  }
};

const Register<Metric, Matthews> register_matthews{"matthews", "Matthews correlation of labels and predictions"};

}  // namespace
}  // namespace headprune
