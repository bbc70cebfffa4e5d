#include "stats/correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace headprune {

double correlation_of_sums(const PairSums& sums) {
  const double spread_a = sums.n * sums.aa - sums.a * sums.a, spread_b = sums.n * sums.bb - sums.b * sums.b;
  // What is left of a constant column, which need not be exactly 0.
  constexpr double kRounding = 1e-13;
  if (spread_a <= kRounding * sums.n * sums.aa || spread_b <= kRounding * sums.n * sums.bb) return 0;
  const double value = (sums.n * sums.ab - sums.a * sums.b) / std::sqrt(spread_a) / std::sqrt(spread_b);
  return std::clamp(value, -1.0, 1.0);
}

SpearmanOfCounts::SpearmanOfCounts(std::span<const double> a, std::span<const double> b)
    : a_(sorted(a)), b_(sorted(b)) {
  if (a.size() != b.size()) throw std::invalid_argument("SpearmanOfCounts: both sides have one value a pair");
}

SpearmanOfCounts::Side SpearmanOfCounts::sorted(std::span<const double> values) {
  Side side;
  side.order.resize(values.size());
  std::iota(side.order.begin(), side.order.end(), size_t{0});
  std::stable_sort(side.order.begin(), side.order.end(), [&](size_t i, size_t j) { return values[i] < values[j]; });
  for (size_t i = 0; i < values.size(); ++i)
    side.ends_run.push_back(i + 1 == values.size() || values[side.order[i]] != values[side.order[i + 1]]);
  return side;
}

std::vector<double> SpearmanOfCounts::ranks(const Side& side, std::span<const uint8_t> counts) {
  std::vector<double> ranks(counts.size());
  double below = 0, here = 0;
  for (size_t begin = 0, i = 0; i < side.order.size(); ++i) {
    here += counts[side.order[i]];
    if (!side.ends_run[i]) continue;
    for (; begin <= i; ++begin) ranks[side.order[begin]] = below + 0.5 * (here + 1);
    below += here;
    here = 0;
  }
  return ranks;
}

double SpearmanOfCounts::operator()(std::span<const uint8_t> counts) const {
  const std::vector<double> a = ranks(a_, counts), b = ranks(b_, counts);
  PairSums sums;
  for (const uint8_t count : counts) sums.n += count;
  const double middle = 0.5 * (sums.n + 1);  // the mean of all ranks
  for (size_t i = 0; i < counts.size(); ++i) {
    const double left = a[i] - middle, right = b[i] - middle, times = counts[i];
    sums.aa += times * left * left;
    sums.bb += times * right * right;
    sums.ab += times * left * right;
  }
  return correlation_of_sums(sums);
}

}  // namespace headprune
