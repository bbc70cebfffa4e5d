// Estimates of proportions and means with their standard errors and 95 % intervals (formats.md section 14).
#pragma once

#include <cstdint>
#include <span>

#include "stats/estimate.h"

namespace headprune {

/// Quantile 0.975 of the standard normal distribution.
inline constexpr double kNormal95 = 1.959963984540054;

/// Accuracy: value p = correct / n, stderr sqrt(p (1 - p) / (n - 1)), 95 % interval of Wilson (1927) without continuity
/// correction. n = 0 gives a NaN value and nothing else; n = 1 has no stderr.
Estimate wilson(int64_t correct, int64_t n);

/// Mean, stderr sigma / sqrt(n) with the sample standard deviation, normal 95 % interval. Fewer than two values, or a
/// non-finite mean: no stderr and no interval.
Estimate mean_estimate(std::span<const double> values);

/// sum(w x) / sum(w), for losses weighted by their number of tokens; stderr of the ratio by linearisation (Cochran
/// 1977, section 6.3): sqrt(n / (n - 1) sum (w (x - mean))^2) / sum(w). Equal weights give mean_estimate(). `weights`
/// are not negative and as many as `values`.
Estimate weighted_mean_estimate(std::span<const double> values, std::span<const double> weights);

/// Sample standard deviation (divisor n - 1); NaN for fewer than two values.
double sample_sd(std::span<const double> values);

/// Mean over k seeds with stderr sd / sqrt(k) and Student's t interval (interval "t"); k = 1 has only a value.
Estimate t_interval(std::span<const double> values);

}  // namespace headprune
