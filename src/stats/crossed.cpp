#include "stats/crossed.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "stats/intervals.h"

namespace headprune {
namespace {

double square(double x) { return x * x; }

/// Sums of squares over the examples of the repetitions' deviations.
struct MeanSquares {
  double between_examples = 0;  // v: variance over examples of the mean over repetitions
  double residual = 0;          // r
};

MeanSquares mean_squares(const std::vector<std::span<const float>>& examples) {
  const size_t k = examples.size(), n = examples.front().size();
  std::vector<double> row_means(k), example_means(n, 0.0);
  for (size_t s = 0; s < k; ++s) {
    for (size_t i = 0; i < n; ++i) example_means[i] += examples[s][i] / static_cast<double>(k);
    row_means[s] = std::accumulate(examples[s].begin(), examples[s].end(), 0.0) / static_cast<double>(n);
  }
  const double grand = std::accumulate(row_means.begin(), row_means.end(), 0.0) / static_cast<double>(k);
  MeanSquares found;
  for (size_t i = 0; i < n; ++i) {
    found.between_examples += square(example_means[i] - grand);
    for (size_t s = 0; s < k; ++s) found.residual += square(examples[s][i] - row_means[s] - example_means[i] + grand);
  }
  found.between_examples /= static_cast<double>(n - 1);
  if (k > 1) found.residual /= static_cast<double>((n - 1) * (k - 1));
  return found;
}

double t_quantile(double df, double alpha) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(df), alpha / 2));
}

/// The alpha whose interval just reaches `distance` from the value.
double p_at(const Crossed& crossed, double distance) {
  double low = -36, high = 0;  // natural logarithm of alpha
  for (int step = 0; step < 50; ++step) {
    const double middle = (low + high) / 2;
    (crossed.half_width(std::exp(middle)) > distance ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace

double Crossed::half_width(double alpha) const {
  double squares = 0;
  if (repetitions > 1) squares += square(t_quantile(static_cast<double>(repetitions - 1), alpha)) * repetition_variance;
  if (n > 1) squares += square(t_quantile(static_cast<double>(n - 1), alpha)) * example_variance;
  return std::sqrt(squares);
}

Crossed crossed(std::span<const double> values, const std::vector<std::span<const float>>& examples) {
  if (values.empty()) throw std::invalid_argument("crossed: at least one repetition");
  if (!examples.empty() && examples.size() != values.size())
    throw std::invalid_argument("crossed: examples of every repetition or of none");
  for (const auto& one : examples)
    if (one.size() != examples.front().size()) throw std::invalid_argument("crossed: the same examples everywhere");
  Crossed result;
  result.repetitions = static_cast<int64_t>(values.size());
  result.n = examples.empty() ? 0 : static_cast<int64_t>(examples.front().size());
  const double k = static_cast<double>(values.size()), n = static_cast<double>(result.n);
  result.value = std::accumulate(values.begin(), values.end(), 0.0) / k;
  if (k > 1) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    const double sd = sample_sd(values);
    // Equal values may differ by what rounding left of a difference.
    result.repetition_variance = sd > 1e-12 * largest ? square(sd) / k : 0;
  }
  if (n > 1) {
    const MeanSquares squares = mean_squares(examples);
    result.example_variance = std::max(0.0, squares.between_examples / n - squares.residual / (k * n));
  }
  return result;
}

Estimate crossed_estimate(const Crossed& crossed, const MetricInfo& metric) {
  Estimate estimate;
  estimate.value = crossed.value;
  estimate.n = crossed.n;
  if (!crossed.known() || !std::isfinite(crossed.value)) return estimate;
  const double error = std::sqrt(crossed.variance());
  estimate.stderr_ = error;
  RangedValue ranged{.value = crossed.value, .variance = crossed.variance(), .half_width = crossed.half_width(0.05)};
  if (metric.proportion && crossed.n > 0) {
    ranged.least_n = static_cast<double>(crossed.n);
    ranged.most_n = static_cast<double>(crossed.n * crossed.repetitions);
  }
  estimate.ci95 = interval_in_range(ranged, metric.range);
  if (estimate.ci95) estimate.interval = crossed.n > 0 ? "crossed" : "t";
  return estimate;
}

Difference crossed_difference(const Crossed& crossed, const MetricInfo& metric) {
  Difference difference;
  difference.delta = crossed.value;
  if (!crossed.known() || !std::isfinite(crossed.value)) return difference;
  Crossed known = crossed;
  if (metric.proportion && crossed.n > 0) {
    const double least = 2 / square(static_cast<double>(crossed.n + 2));
    known.example_variance = std::max(known.example_variance, least - known.repetition_variance);
  }
  if (!(known.variance() > 0)) {  // all alike: no difference at all, or nothing to judge one by
    if (crossed.value == 0) difference.p = 1, difference.test = "crossed_t";
    return difference;
  }
  difference.stderr_ = std::sqrt(known.variance());
  const double half = known.half_width(0.05);
  const double width = metric.range.high - metric.range.low;  // infinite where the range is
  difference.ci95 = {std::max(crossed.value - half, -width), std::min(crossed.value + half, width)};
  difference.p = p_at(known, std::abs(crossed.value));
  difference.test = "crossed_t";
  return difference;
}

}  // namespace headprune
