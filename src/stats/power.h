// What a family of tests could have found at all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stats/estimate.h"

namespace headprune {

/// What one of these differences needed to stand out by itself, the others showing nothing: a p below alpha / m, m the
/// number of tests (Benjamini and Hochberg 1995 at rank 1).
struct Detectable {
  double needed_p = 0;
  double smallest_p = 0;  // that such a test can give: of n examples that all change one way, or of so many draws
  /// The smallest change with such a p. McNemar's exact test: the fewest examples, all changing one way, over n. Other
  /// tests: the median half width of the 95 % intervals, stretched from 0.05 to alpha / m on the normal distribution.
  /// Nothing where no p is so small, or there are no intervals.
  std::optional<double> change;

  bool possible() const { return smallest_p < needed_p; }
};

/// `bootstrap_iters`: draws behind each p of a bootstrap, whose smallest is 2 / (draws + 1). Nothing without tests or
/// examples.
std::optional<Detectable> detectable(const std::vector<Difference>& tests, int64_t n, double alpha,
                                     int64_t bootstrap_iters);

}  // namespace headprune
