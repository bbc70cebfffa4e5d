// A metric of the texts that a model writes, whose corpus score is a function of sums over examples.
#pragma once

#include <array>

#include "metric/metric.h"
#include "metric/ngrams.h"

namespace headprune {

class TextMetric : public CorpusMetric {
 public:
  using Options = NoOptions;
  std::vector<DataKind> kinds() const override { return {DataKind::translation}; }
  MetricInfo info(DataKind) const override { return {.higher_is_better = true, .range = {0, 100}, .unit = ""}; }
  bool of_texts() const override { return true; }
  bool needs_different_predictions() const override { return true; }
};

/// Of each example's statistics, `score` of their sums.
template <size_t width>
ExampleMetric of_text_statistics(const Outcomes& outcomes,
                                 std::array<double, width> (*statistics)(std::string_view, std::string_view),
                                 double (*score)(std::span<const double>)) {
  std::vector<std::array<double, width>> rows;
  for (const Outcome& outcome : outcomes) rows.push_back(statistics(outcome.text, outcome.reference));
  return {.columns = statistic_columns(rows), .statistic = SumStatistic(score)};
}

}  // namespace headprune
