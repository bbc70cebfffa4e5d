#include "stats/intervals.h"

#include <boost/math/distributions/students_t.hpp>
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

void set_interval(Estimate& estimate, double half_width, const char* name) {
  estimate.ci95 = {estimate.value - half_width, estimate.value + half_width};
  estimate.interval = name;
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
  const double z2 = kNormal95 * kNormal95;
  const double centre = (p + z2 / (2 * count)) / (1 + z2 / count);
  const double half = kNormal95 / (1 + z2 / count) * std::sqrt(p * (1 - p) / count + z2 / (4 * count * count));
  // At the ends the bound is 0 or 1 in exact arithmetic, and rounding must not push it past the value.
  estimate.ci95 = {correct == 0 ? 0.0 : centre - half, correct == n ? 1.0 : centre + half};
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

Estimate mean_estimate(std::span<const double> values) {
  Estimate estimate;
  estimate.n = static_cast<int64_t>(values.size());
  estimate.value = mean_of(values);
  if (values.size() < 2 || !std::isfinite(estimate.value)) return estimate;
  estimate.stderr_ = sample_sd(values) / std::sqrt(static_cast<double>(values.size()));
  set_interval(estimate, kNormal95 * *estimate.stderr_, "normal");
  return estimate;
}

Estimate weighted_mean_estimate(std::span<const double> values, std::span<const double> weights) {
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
  set_interval(estimate, kNormal95 * *estimate.stderr_, "normal");
  return estimate;
}

Estimate t_interval(std::span<const double> values) {
  Estimate estimate = mean_estimate(values);
  if (!estimate.stderr_) return estimate;
  const boost::math::students_t distribution(static_cast<double>(values.size() - 1));
  set_interval(estimate, boost::math::quantile(distribution, 0.975) * *estimate.stderr_, "t");
  return estimate;
}

}  // namespace headprune
