#include "stats/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace headprune {
namespace {

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

void set_normal_interval(Estimate& estimate, const MetricRange& range) {
  const double error = *estimate.stderr_;
  estimate.ci95 = interval_in_range({.value = estimate.value, .variance = error * error}, range);
  if (estimate.ci95) estimate.interval = "normal";
}

/// Wilson's score interval of p for n examples and any quantile of the distribution of its standardised error.
std::array<double, 2> score_interval(double p, double n, double quantile) {
  const double z2 = quantile * quantile;
  const double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = quantile / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  // At the ends the bound is 0 or 1 in exact arithmetic, and rounding must not push it past the value.
  return {p <= 0 ? 0.0 : centre - half, p >= 1 ? 1.0 : centre + half};
}

}  // namespace

Estimate wilson(int64_t correct, int64_t n) {
  if (correct < 0 || correct > n) throw std::invalid_argument("wilson: correct must be in 0 ... n");
  Estimate estimate;
  estimate.n = n;
  if (n == 0) {
    estimate.value = std::numeric_limits<double>::quiet_NaN();
    return estimate;
  }
  const double count = static_cast<double>(n);
  const double p = static_cast<double>(correct) / count;
  estimate.value = p;
  if (n > 1) estimate.stderr_ = std::sqrt(p * (1 - p) / (count - 1));
  estimate.ci95 = score_interval(p, count, kNormal95);
  estimate.interval = "wilson";
  return estimate;
}

double sample_sd(std::span<const double> values) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean = mean_of(values);
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<std::array<double, 2>> interval_in_range(const RangedValue& value, const MetricRange& range) {
  const double error = std::sqrt(value.variance);
  const double half = value.half_width > 0 ? value.half_width : kNormal95 * error;
  const std::array<double, 2> plain = {value.value - half, value.value + half};
  std::array<double, 2> normal{}, wide{};  // by the normal quantile, and by the one that half_width stands for
  const double width = range.high - range.low, distance = value.value - range.low;
  if (std::isfinite(width)) {
    const double p = distance / width, spread = p * (1 - p);
    double n = value.variance > 0 ? spread * width * width / value.variance : value.most_n;
    if (value.most_n > 0) n = std::min(n, value.most_n);
    if (!(spread > 0)) n = value.least_n;
    if (!(n > 0)) return std::nullopt;
    normal = score_interval(p, n, kNormal95);
    wide = score_interval(p, n, error > 0 ? half / error : kNormal95);
    for (std::array<double, 2>* one : {&normal, &wide})
      for (double& end : *one) end = range.low + width * end;
  } else {
    if (!(half > 0)) return std::nullopt;
    if (!std::isfinite(range.low)) return plain;
    if (!(distance > 0)) return std::nullopt;
    const double factor = std::exp(kNormal95 * error / distance), more = std::exp(half / distance);
    normal = {range.low + distance / factor, range.low + distance * factor};
    wide = {range.low + distance / more, range.low + distance * more};
  }
  if (!(half > kNormal95 * error)) return normal;
  return std::array<double, 2>{std::min(normal[0], std::max(plain[0], wide[0])),
                               std::max(normal[1], std::min(plain[1], wide[1]))};
}

Estimate mean_estimate(std::span<const double> values, const MetricRange& range) {
  Estimate estimate;
  estimate.n = static_cast<int64_t>(values.size());
  estimate.value = mean_of(values);
  if (values.size() < 2 || !std::isfinite(estimate.value)) return estimate;
  estimate.stderr_ = sample_sd(values) / std::sqrt(static_cast<double>(values.size()));
  set_normal_interval(estimate, range);
  return estimate;
}

Estimate weighted_mean_estimate(std::span<const double> values, std::span<const double> weights,
                                const MetricRange& range) {
  if (values.size() != weights.size()) throw std::invalid_argument("weighted_mean_estimate: one weight per value");
  Estimate estimate;
  estimate.n = static_cast<int64_t>(values.size());
  double total = 0, weighted = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    total += weights[i];
    weighted += weights[i] * values[i];
  }
  estimate.value = weighted / total;
  if (values.size() < 2 || !std::isfinite(estimate.value)) return estimate;
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double residual = weights[i] * (values[i] - estimate.value);
    squares += residual * residual;
  }
  const double n = static_cast<double>(values.size());
  estimate.stderr_ = std::sqrt(n / (n - 1) * squares) / total;
  set_normal_interval(estimate, range);
  return estimate;
}

}  // namespace headprune
