// Estimates of proportions and means with their standard errors and 95 % intervals (docs/definitions.md "One model").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "stats/estimate.h"
#include "stats/metric_info.h"

namespace headprune {

/// Quantile 0.975 of the standard normal distribution.
inline constexpr double kNormal95 = 1.959963984540054;

/// Accuracy: value p = correct / n, stderr sqrt(p (1 - p) / (n - 1)), 95 % interval of Wilson (1927) without continuity
/// correction. n = 0 gives a NaN value and nothing else; n = 1 has no stderr.
Estimate wilson(int64_t correct, int64_t n);

/// Mean, stderr sigma / sqrt(n) with the sample standard deviation, normal 95 % interval that stays in `range`
/// (interval "normal"). Fewer than two values, or a non-finite mean: no stderr and no interval.
Estimate mean_estimate(std::span<const double> values, const MetricRange& range = {});

/// sum(w x) / sum(w), for losses weighted by their number of tokens; stderr of the ratio by linearisation (Cochran
/// 1977, section 6.3): sqrt(n / (n - 1) sum (w (x - mean))^2) / sum(w). Equal weights give mean_estimate(). `weights`
/// are not negative and as many as `values`.
Estimate weighted_mean_estimate(std::span<const double> values, std::span<const double> weights,
                                const MetricRange& range = {});

/// Sample standard deviation (divisor n - 1); NaN for fewer than two values.
double sample_sd(std::span<const double> values);

/// A value and how sure it is, for interval_in_range().
struct RangedValue {
  double value = 0;
  double variance = 0;  // of the value
  /// Half of the 95 % interval that the value would have in an endless range; 0: kNormal95 sqrt(variance).
  double half_width = 0;
  /// Of a proportion: how many independent zeros and ones it is made of, at least (where all are alike and the variance
  /// says nothing) and at most.
  double least_n = 0, most_n = 0;
};

/// 95 % interval that stays in `range`. A range with two ends: Wilson's score interval with the effective number of
/// examples p (1 - p) / variance, p being the place in the range (Kott and Carr 1997, for survey means). One end:
/// normal on the logarithm of the distance from it. None: value -+ half_width. Where half_width is more than the normal
/// one (few degrees of freedom) either side reaches further, to value -+ half_width or to where that interval goes with
/// half_width / sqrt(variance) as its quantile, whichever is nearer. Nothing where the value stands at an end and
/// least_n is 0, or the variance is 0 inside: examples that are all alike say nothing of others.
std::optional<std::array<double, 2>> interval_in_range(const RangedValue& value, const MetricRange& range);

}  // namespace headprune
