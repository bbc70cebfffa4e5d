#include "stats/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/random.h"
#include "stats/intervals.h"

namespace headprune {
namespace {

constexpr size_t kBlock = 512;       // resamples whose counts lie side by side
constexpr double kRounding = 1e-12;  // relative; sums in another order differ by less

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }
double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

/// Linear interpolation between order statistics (numpy's default); `sorted` is not empty.
double quantile_sorted(const std::vector<double>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const size_t below = std::min(static_cast<size_t>(position), sorted.size() - 1);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

bool all_equal(const std::vector<double>& draws) {
  const auto [low, high] = std::minmax_element(draws.begin(), draws.end());
  return *high - *low <= kRounding * std::max(std::abs(*low), std::abs(*high));
}

double minus(double a, double b) {
  const double difference = a - b;
  return std::abs(difference) <= kRounding * (std::abs(a) + std::abs(b)) ? 0.0 : difference;
}

/// Acceleration from jackknife values: sum d^3 / (6 (sum d^2)^1.5), d = their mean minus each.
double acceleration(const std::vector<double>& jackknife) {
  const double mean = std::accumulate(jackknife.begin(), jackknife.end(), 0.0) / static_cast<double>(jackknife.size());
  double squares = 0, cubes = 0;
  for (double value : jackknife) {
    const double d = mean - value;
    squares += d * d;
    cubes += d * d * d;
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0.0;
}

/// `draws` are not all equal.
std::array<double, 2> bca_interval(double value, std::vector<double> draws, const std::vector<double>& jackknife) {
  std::sort(draws.begin(), draws.end());
  const auto [low, high] = std::equal_range(draws.begin(), draws.end(), value);
  const double count = static_cast<double>(draws.size());
  const double rank = 0.5 * static_cast<double>((low - draws.begin()) + (high - draws.begin()));
  const double bias = normal_quantile(std::clamp(rank / count, 0.5 / count, 1 - 0.5 / count));
  const double a = acceleration(jackknife);
  std::array<double, 2> interval{};
  for (size_t side = 0; side < 2; ++side) {
    const double z = bias + (side == 0 ? -kNormal95 : kNormal95);
    const double denominator = 1 - a * z;
    // Past its pole the formula would turn round; the extreme draw is its limit.
    const double p = denominator > 0 ? normal_cdf(bias + z / denominator) : (z < 0 ? 0.0 : 1.0);
    interval[side] = quantile_sorted(draws, p);
  }
  return interval;
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// One resample: how often each example is drawn. A count is Poisson(1) in the limit, so 255 is out of reach.
void draw_counts(Random& random, std::vector<uint8_t>& counts) {
  std::fill(counts.begin(), counts.end(), uint8_t{0});
  const double n = static_cast<double>(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) ++counts[static_cast<size_t>(random.uniform() * n)];
}

/// No interval can be given from some of the resamples.
void drop_unless_finite(Resampled& result) {
  if (all_finite(result.draws) && all_finite(result.leave_one_out)) return;
  result.draws.clear();
  result.leave_one_out.clear();
}

std::string block_name(size_t block) { return "block-" + std::to_string(block); }

}  // namespace

Bootstrap::Bootstrap(size_t n, size_t draws, uint64_t seed, std::string_view name, size_t max_stored)
    : n_(n), draws_(draws), seed_(stream_seed(seed, name)) {
  const size_t blocks = (draws + kBlock - 1) / kBlock;
  if (n == 0 || blocks * kBlock > max_stored / n) return;
  counts_.resize(blocks * n * kBlock);
  std::vector<uint8_t> one(n);
  for (size_t block = 0; block < blocks; ++block) {
    Random random(seed_, block_name(block));
    uint8_t* counts = counts_.data() + block * n * kBlock;
    for (size_t d = 0; d < std::min(kBlock, draws - block * kBlock); ++d) {
      draw_counts(random, one);
      for (size_t i = 0; i < n; ++i) counts[i * kBlock + d] = one[i];
    }
  }
}

void Bootstrap::sum_stored(size_t block, const std::vector<double>& column, double* sums) const {
  const uint8_t* counts = counts_.data() + block * n_ * kBlock;
  for (size_t i = 0; i < n_; ++i) {
    const double x = column[i];
    if (x == 0) continue;
    for (size_t d = 0; d < kBlock; ++d) sums[d] += x * counts[i * kBlock + d];
  }
}

void Bootstrap::sum_anew(size_t block, const Columns& data, double* sums) const {
  Random random(seed_, block_name(block));
  std::vector<uint8_t> one(n_);
  for (size_t d = 0; d < std::min(kBlock, draws_ - block * kBlock); ++d) {
    draw_counts(random, one);
    for (size_t c = 0; c < data.columns.size(); ++c) {
      double sum = 0;
      for (size_t i = 0; i < n_; ++i) sum += data.columns[c][i] * one[i];
      sums[c * kBlock + d] = sum;
    }
  }
}

Resampled Bootstrap::resample(const Columns& data, const SumStatistic& statistic) const {
  const size_t width = data.columns.size();
  for (const auto& column : data.columns) {
    if (column.size() != data.n) throw std::invalid_argument("Bootstrap: every column has n rows");
  }
  if (data.n != n_) throw std::invalid_argument("Bootstrap: made for another number of examples");

  Resampled result;
  result.n = n_;
  std::vector<double> totals(width, 0.0), sums(width);
  for (size_t c = 0; c < width; ++c) totals[c] = std::accumulate(data.columns[c].begin(), data.columns[c].end(), 0.0);
  result.value = statistic(totals);
  if (n_ < 2 || draws_ == 0 || !std::isfinite(result.value) || !all_finite(totals)) return result;

  result.draws.reserve(draws_);
  std::vector<double> block_sums(width * kBlock);
  for (size_t block = 0; block * kBlock < draws_; ++block) {
    std::fill(block_sums.begin(), block_sums.end(), 0.0);
    if (counts_.empty()) {
      sum_anew(block, data, block_sums.data());
    } else {
      for (size_t c = 0; c < width; ++c) sum_stored(block, data.columns[c], block_sums.data() + c * kBlock);
    }
    for (size_t d = 0; d < std::min(kBlock, draws_ - block * kBlock); ++d) {
      for (size_t c = 0; c < width; ++c) sums[c] = block_sums[c * kBlock + d];
      result.draws.push_back(statistic(sums));
    }
  }
  result.leave_one_out.reserve(n_);
  for (size_t i = 0; i < n_; ++i) {
    for (size_t c = 0; c < width; ++c) sums[c] = totals[c] - data.columns[c][i];
    result.leave_one_out.push_back(statistic(sums));
  }
  drop_unless_finite(result);
  return result;
}

Resampled Bootstrap::resample(const CountStatistic& statistic) const {
  Resampled result;
  result.n = n_;
  std::vector<uint8_t> one(n_, 1);
  result.value = statistic(one);
  if (n_ < 2 || draws_ == 0 || !std::isfinite(result.value)) return result;

  for (size_t i = 0; i < n_; ++i) {
    one[i] = 0;
    result.leave_one_out.push_back(statistic(one));
    one[i] = 1;
  }
  for (size_t block = 0; block * kBlock < draws_; ++block) {
    Random random(seed_, block_name(block));
    for (size_t d = 0; d < std::min(kBlock, draws_ - block * kBlock); ++d) {
      draw_counts(random, one);
      result.draws.push_back(statistic(one));
    }
  }
  drop_unless_finite(result);
  return result;
}

std::vector<double> Resampled::pseudo_values() const {
  std::vector<double> values;
  const auto count = static_cast<double>(n);
  for (const double without : leave_one_out) values.push_back(count * value - (count - 1) * without);
  return values;
}

Estimate bootstrap_estimate(const Resampled& resampled) {
  Estimate estimate;
  estimate.value = resampled.value;
  estimate.n = static_cast<int64_t>(resampled.n);
  if (resampled.draws.empty()) return estimate;
  if (all_equal(resampled.draws)) return estimate;  // examples that are all alike say nothing of others
  estimate.stderr_ = sample_sd(resampled.draws);
  estimate.ci95 = bca_interval(resampled.value, resampled.draws, resampled.leave_one_out);
  estimate.interval = "bca";
  return estimate;
}

Difference paired_bootstrap(const Resampled& value, const Resampled& base) {
  Difference difference;
  difference.delta = minus(value.value, base.value);
  if (value.draws.empty() || base.draws.empty()) return difference;
  if (value.draws.size() != base.draws.size() || value.n != base.n) {
    throw std::invalid_argument("paired_bootstrap: both sides need the same resamples");
  }
  std::vector<double> draws(value.draws.size()), jackknife(value.n);
  int64_t not_above = 0, not_below = 0;
  for (size_t d = 0; d < draws.size(); ++d) {
    draws[d] = minus(value.draws[d], base.draws[d]);
    not_above += draws[d] <= 0 ? 1 : 0;
    not_below += draws[d] >= 0 ? 1 : 0;
  }
  for (size_t i = 0; i < jackknife.size(); ++i) {
    jackknife[i] = minus(value.leave_one_out[i], base.leave_one_out[i]);
  }
  // The same change in every example says nothing of others, so there is nothing to judge it by.
  if (difference.delta != 0 && all_equal(draws)) return difference;
  const double smaller = static_cast<double>(std::min(not_above, not_below));
  difference.p = std::min(1.0, 2 * (1 + smaller) / static_cast<double>(1 + draws.size()));
  if (!all_equal(draws)) {
    difference.stderr_ = sample_sd(draws);
    difference.ci95 = bca_interval(difference.delta, std::move(draws), jackknife);
  }
  difference.test = "paired_bootstrap";
  return difference;
}

std::optional<Estimate> interquartile_mean(std::span<const double> seeds) {
  constexpr size_t kEnoughSeeds = 10, kResamples = 10000;
  std::vector<double> values(seeds.begin(), seeds.end());
  if (values.size() < kEnoughSeeds || !all_finite(values)) return std::nullopt;
  const size_t cut = values.size() / 4;
  const auto trimmed_mean = [cut](std::vector<double>& drawn) {
    std::sort(drawn.begin(), drawn.end());
    const auto end = drawn.end() - static_cast<std::ptrdiff_t>(cut);
    const double sum = std::accumulate(drawn.begin() + static_cast<std::ptrdiff_t>(cut), end, 0.0);
    return sum / static_cast<double>(drawn.size() - 2 * cut);
  };
  Random random(0, "interquartile_mean");
  std::vector<double> draws, drawn(values.size());
  for (size_t i = 0; i < kResamples; ++i) {
    for (double& one : drawn) one = values[random.below(values.size())];
    draws.push_back(trimmed_mean(drawn));
  }
  std::sort(draws.begin(), draws.end());
  Estimate estimate;
  estimate.n = static_cast<int64_t>(values.size());
  estimate.value = trimmed_mean(values);
  estimate.ci95 = {quantile_sorted(draws, 0.025), quantile_sorted(draws, 0.975)};
  estimate.interval = "percentile";
  return estimate;
}

}  // namespace headprune
