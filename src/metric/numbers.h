// What correlations of numbers with their predictions share.
#pragma once

#include "metric/metric.h"

namespace headprune {

/// A correlation of the numbers of a regression with what was predicted; 0 when all of one side are equal. Predictions
/// are where are_alike(): without heads, a model says the same of every text.
class CorrelationMetric : public CorpusMetric {
 public:
  using Options = NoOptions;
  std::vector<DataKind> kinds() const override { return {DataKind::numbered}; }
  MetricInfo info(DataKind) const override { return {.higher_is_better = true, .range = {-1, 1}, .unit = ""}; }
  bool needs_different_predictions() const override { return true; }
};

/// Whether predictions from `low` to `high` are one and the same but for float32's rounding: a millionth of the
/// largest.
bool are_alike(double low, double high);

/// Two columns: the numbers, and their predictions. Moved so that each begins with 0, which no correlation notices:
/// sums of squares then lose no digits to a large mean, and a constant column is exactly 0.
Columns number_columns(const Outcomes& outcomes);

}  // namespace headprune
