// Repetitions (seeds of a training, orders of a random control) measured on the same examples: two sources of
// uncertainty that cross, since every repetition meets every example (docs/definitions.md "Several seeds or orders").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/estimate.h"
#include "stats/metric_info.h"

namespace headprune {

/// The mean over k repetitions with its variance in two parts, from the two-way analysis of variance without
/// replication under random effects of both (Brennan 2001, Generalizability Theory, section 6.1):
///   repetitions  s^2 / k, s^2 the variance of the repetitions' values
///   examples     max(0, v / n - r / (k n)), v the variance over examples of the mean over repetitions, r the residual
///                variance
/// One repetition: examples alone.
struct Crossed {
  double value = 0;
  int64_t repetitions = 0, n = 0;
  double repetition_variance = 0, example_variance = 0;

  double variance() const { return repetition_variance + example_variance; }
  /// Whether a variance is known: of two repetitions, or of two examples.
  bool known() const { return repetitions > 1 || n > 1; }
  /// Half the width of a two-sided interval that misses with probability `alpha`: sqrt(t_(k-1)^2 s^2/k + t_(n-1)^2
  /// examples), each source with its own Student quantile (Graybill and Wang 1980). Satterthwaite's single t covers 90
  /// % with two seeds, whose spread may be small by chance (benchmarks/coverage.cpp); for many it is the same.
  double half_width(double alpha) const;
};

/// `values`: the metric of each repetition. `examples`: for each repetition a value of every example whose mean is the
/// metric, or whose mean has the metric's variance (a corpus metric's jackknife pseudo-values); empty where none were
/// kept, and then the variance is that of the repetitions alone. Throws std::invalid_argument for other shapes.
Crossed crossed(std::span<const double> values, const std::vector<std::span<const float>>& examples);

/// With the 95 % interval that stays in the metric's range: interval "crossed", or "t" where no examples were kept.
Estimate crossed_estimate(const Crossed& crossed, const MetricInfo& metric);

/// The same of paired differences: p is the alpha whose interval just reaches 0, test "crossed_t". The variance of a
/// proportion's difference is at least that of one example more on either side (Bonett and Price 2012), so that
/// repetitions that agree on everything are not certain. Nothing but delta where no variance is known.
Difference crossed_difference(const Crossed& crossed, const MetricInfo& metric);

}  // namespace headprune
