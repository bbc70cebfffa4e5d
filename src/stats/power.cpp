#include "stats/power.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {

std::optional<Detectable> detectable(const std::vector<Difference>& tests, int64_t n, double alpha,
                                     int64_t bootstrap_iters) {
  if (tests.empty() || n < 1) return std::nullopt;
  Detectable found{.needed_p = alpha / static_cast<double>(tests.size()), .smallest_p = 0, .change = {}};
  if (tests.front().test == "mcnemar") {
    found.smallest_p = mcnemar_exact(n, 0);
    for (int64_t changed = 1; changed <= n && !found.change; ++changed)
      if (mcnemar_exact(changed, 0) < found.needed_p)
        found.change = static_cast<double>(changed) / static_cast<double>(n);
    return found;
  }
  if (tests.front().test == "paired_bootstrap") found.smallest_p = 2.0 / static_cast<double>(bootstrap_iters + 1);
  std::vector<double> widths;
  for (const Difference& test : tests)
    if (test.ci95) widths.push_back(0.5 * ((*test.ci95)[1] - (*test.ci95)[0]));
  if (widths.empty() || !found.possible()) return found;
  std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2), widths.end());
  const double quantile = boost::math::quantile(boost::math::normal(), 1 - found.needed_p / 2);
  found.change = widths[widths.size() / 2] * quantile / kNormal95;
  return found;
}

}  // namespace headprune
