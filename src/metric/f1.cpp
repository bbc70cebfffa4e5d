// `f1`: of two labels that of Outcome::positive; of more the unweighted mean over labels (macro), over those that occur
// as target or prediction. A label never predicted right has F1 0.
#include "metric/confusion.h"

namespace headprune {
namespace {

double f1_of(double hits, double predictions, double targets) {
  return hits > 0 ? 2 * hits / (predictions + targets) : 0.0;
}

double f1_value(std::span<const double> sums, size_t labels, size_t positive) {
  if (labels == 2) return f1_of(sums[positive], sums[2 + positive], sums[4 + positive]);
  double sum = 0;
  int64_t occurring = 0;
  for (size_t label = 0; label < labels; ++label) {
    const double predictions = sums[labels + label], targets = sums[2 * labels + label];
    if (predictions + targets == 0) continue;
    sum += f1_of(sums[label], predictions, targets);
    ++occurring;
  }
  return occurring > 0 ? sum / static_cast<double>(occurring) : 0.0;
}

class F1 final : public CorpusMetric {
 public:
  using Options = NoOptions;
  explicit F1(Options) {}
  std::vector<DataKind> kinds() const override { return {DataKind::labelled}; }
  MetricInfo info(DataKind) const override { return {.higher_is_better = true, .range = {0, 1}, .unit = ""}; }
  bool needs_different_predictions() const override { return true; }

 protected:
  ExampleMetric of_corpus(const Outcomes& outcomes) const override {
    const auto labels = static_cast<size_t>(label_count(outcomes));
    const size_t positive = outcomes.empty() ? 1 : static_cast<size_t>(outcomes.front().positive);
    return {.columns = confusion_columns(outcomes),
            .statistic = [labels, positive](std::span<const double> sums) { return f1_value(sums, labels, positive); }};
  }
};

const Register<Metric, F1> register_f1{
    "f1", "F1 of positive_label where there are two labels, else the unweighted mean over labels"};

}  // namespace
}  // namespace headprune
