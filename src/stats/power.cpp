#include "stats/power.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {

std::optional<double> smallest_change(const std::vector<Difference>& tests, int64_t n, double alpha) {
  if (tests.empty() || n < 1) return std::nullopt;
  const double needed = alpha / static_cast<double>(tests.size());
  if (tests.front().test == "mcnemar") {
    for (int64_t changed = 1; changed <= n; ++changed)
      if (mcnemar_exact(changed, 0) < needed) return static_cast<double>(changed) / static_cast<double>(n);
    return std::nullopt;
  }
  std::vector<double> widths;
  for (const Difference& test : tests)
    if (test.ci95) widths.push_back(0.5 * ((*test.ci95)[1] - (*test.ci95)[0]));
  if (widths.empty()) return std::nullopt;
  std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2), widths.end());
  const double quantile = boost::math::quantile(boost::math::normal(), 1 - needed / 2);
  return widths[widths.size() / 2] * quantile / kNormal95;
}

}  // namespace headprune
