#include "stats/tests.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "stats/intervals.h"

namespace headprune {
namespace {

constexpr size_t kExactFlips = 20;
constexpr int64_t kRandomFlips = 100000;

/// Sums of `values` under all 2^size sign patterns.
std::vector<double> signed_sums(std::span<const double> values) {
  std::vector<double> sums = {0.0};
  for (double value : values) {
    const size_t before = sums.size();
    for (size_t i = 0; i < before; ++i) {
      sums.push_back(sums[i] - value);
      sums[i] += value;
    }
  }
  return sums;
}

}  // namespace

double mcnemar_exact(int64_t b, int64_t c) {
  if (b < 0 || c < 0) throw std::invalid_argument("mcnemar_exact: counts are not negative");
  if (b == c) return 1.0;
  const boost::math::binomial distribution(static_cast<double>(b + c), 0.5);
  return std::min(1.0, 2 * boost::math::cdf(distribution, static_cast<double>(std::min(b, c))));
}

Difference paired_accuracy_difference(int64_t gained, int64_t lost, int64_t n) {
  if (gained < 0 || lost < 0 || n < 1 || gained + lost > n) {
    throw std::invalid_argument("paired_accuracy_difference: counts must fit into n");
  }
  Difference difference;
  const double count = static_cast<double>(n);
  difference.delta = static_cast<double>(gained - lost) / count;
  difference.p = mcnemar_exact(gained, lost);
  difference.test = "mcnemar";
  if (n > 1) {
    const double squares = static_cast<double>(gained + lost) - count * difference.delta * difference.delta;
    difference.stderr_ = std::sqrt(std::max(0.0, squares)) / count;
  }
  const double more = count + 2, centre = static_cast<double>(gained - lost) / more;
  const double half = kNormal95 * std::sqrt((static_cast<double>(gained + lost + 2) / more - centre * centre) / more);
  difference.ci95 = {std::max(-1.0, centre - half), std::min(1.0, centre + half)};
  return difference;
}

Difference welch(std::span<const double> a, std::span<const double> b) {
  Difference difference;
  const auto mean = [](std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  difference.delta = mean(b) - mean(a);
  if (a.size() < 2 || b.size() < 2) return difference;
  double variance = 0, of_squares = 0;
  for (const std::span<const double> side : {a, b}) {
    const double sd = sample_sd(side), k = static_cast<double>(side.size());
    variance += sd * sd / k;
    of_squares += sd * sd / k * sd * sd / k / (k - 1);
  }
  if (!(variance > 0)) return difference;
  const boost::math::students_t distribution(variance * variance / of_squares);
  difference.stderr_ = std::sqrt(variance);
  const double half = boost::math::quantile(distribution, 0.975) * *difference.stderr_;
  difference.ci95 = {difference.delta - half, difference.delta + half};
  const double t = std::abs(difference.delta) / *difference.stderr_;
  difference.p = std::min(1.0, 2 * boost::math::cdf(boost::math::complement(distribution, t)));
  difference.test = "welch";
  return difference;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> q(p.size());
  double smallest = 1.0;
  for (size_t rank = p.size(); rank > 0; --rank) {
    const size_t i = order[rank - 1];
    smallest = std::min(smallest, p[i] * static_cast<double>(p.size()) / static_cast<double>(rank));
    q[i] = smallest;
  }
  return q;
}

void TestFamily::add(double p, std::optional<double>& q, const std::string& comparison) {
  const auto known = comparison.empty() ? places_.end() : places_.find(comparison);
  if (known != places_.end()) {
    rows_.emplace_back(&q, known->second);
    return;
  }
  if (!comparison.empty()) places_[comparison] = p_.size();
  rows_.emplace_back(&q, p_.size());
  p_.push_back(p);
}

void TestFamily::correct() const {
  const std::vector<double> q = benjamini_hochberg(p_);
  for (const auto& [row, place] : rows_) *row = q[place];
}

double smallest_sign_flip_p(int64_t k) { return std::min(1.0, std::ldexp(2.0, -static_cast<int>(k))); }

std::optional<double> sign_flip_p(std::span<const double> differences, Random random) {
  const size_t k = differences.size();
  if (k < 2) return std::nullopt;
  double observed = 0, scale = 0;
  for (double difference : differences) {
    observed += difference;
    scale += std::abs(difference);
  }
  // Equal sums may differ by rounding, since they are added up in another order.
  const double threshold = std::abs(observed) - 1e-12 * scale;
  if (k <= kExactFlips) {
    const std::vector<double> low = signed_sums(differences.first(k / 2));
    const std::vector<double> high = signed_sums(differences.subspan(k / 2));
    int64_t extreme = 0;
    for (double a : low) {
      for (double b : high) extreme += std::abs(a + b) >= threshold ? 1 : 0;
    }
    return std::ldexp(static_cast<double>(extreme), -static_cast<int>(k));
  }
  int64_t extreme = 1;
  for (int64_t flip = 0; flip < kRandomFlips; ++flip) {
    double sum = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < k; ++i) {
      if (i % 64 == 0) bits = random.next();
      sum += (bits & 1) != 0 ? differences[i] : -differences[i];
      bits >>= 1;
    }
    extreme += std::abs(sum) >= threshold ? 1 : 0;
  }
  return static_cast<double>(extreme) / static_cast<double>(kRandomFlips + 1);
}

}  // namespace headprune
