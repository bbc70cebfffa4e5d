// Seeded bootstrap over examples for statistics that are functions of column sums: F1 and Matthews of confusion counts,
// loss and perplexity of summed losses and tokens; and for those that need to know which examples are there, as a rank
// correlation does. One set of resamples is shared by every metric and every point over
// the same examples, so differences between points are paired, and a metric costs one pass over the counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stats/estimate.h"

namespace headprune {

/// Per-example columns, each of length n. One-hot columns (confusion counts) cost no more than one dense column.
struct Columns {
  size_t n = 0;
  std::vector<std::vector<double>> columns;
};

/// A statistic of the column sums, in the order of the columns. Every resample has n rows.
using SumStatistic = std::function<double(std::span<const double> sums)>;

/// A statistic of how often each example is there: once each in the data, as drawn in a resample.
using CountStatistic = std::function<double(std::span<const uint8_t> counts)>;

/// A statistic, its bootstrap replicates and its jackknife values. `draws` and `leave_one_out` are empty where the
/// statistic is not finite on the full data or on a resample: no interval can be given then.
struct Resampled {
  double value = 0;
  size_t n = 0;
  std::vector<double> draws;          // one per resample, in the order of the resamples
  std::vector<double> leave_one_out;  // one per example

  /// n value - (n - 1) leave_one_out: numbers whose mean varies as the statistic does (Efron and Tibshirani 1993,
  /// section 11.5). Empty where leave_one_out is.
  std::vector<double> pseudo_values() const;
};

/// How often each example is in each resample.
class Bootstrap {
 public:
  /// `draws` resamples of n examples with replacement, from the stream `name` of `seed`. Takes n * draws bytes where
  /// that is at most `max_stored` bytes; beyond, the resamples are made anew for each statistic: slower, the same
  /// numbers.
  Bootstrap(size_t n, size_t draws, uint64_t seed, std::string_view name = "bootstrap",
            size_t max_stored = size_t{256} << 20);

  size_t n() const { return n_; }
  size_t draws() const { return draws_; }
  /// `data.n` must be n().
  Resampled resample(const Columns& data, const SumStatistic& statistic) const;
  /// The same resamples; the statistic is evaluated n() + draws() times on all counts.
  Resampled resample(const CountStatistic& statistic) const;

 private:
  void sum_stored(size_t block, const std::vector<double>& column, double* sums) const;
  void sum_anew(size_t block, const Columns& data, double* sums) const;

  size_t n_, draws_;
  uint64_t seed_;                // of the stream; block b has its own
  std::vector<uint8_t> counts_;  // [blocks, n, kBlock], empty beyond max_stored
};

/// The value with the standard deviation of the draws and the BCa 95 % interval (Efron 1987; Efron and Tibshirani 1993,
/// section 14.3), interval "bca". Neither when all draws are equal: examples that are all alike say nothing of others.
Estimate bootstrap_estimate(const Resampled& resampled);

/// value - base over the same resamples, test "paired_bootstrap": stderr and BCa interval of the difference, p =
/// min(1, 2 (1 + min(draws <= 0, draws >= 0)) / (1 + number of draws)). Differences within rounding (1e-12 of
/// the two sides) count as zero, and an identically zero difference has p = 1 and no interval. One that is the same in
/// every draw has neither. Without draws on either side only delta is set.
Difference paired_bootstrap(const Resampled& value, const Resampled& base);

/// Mean of the middle half of at least ten seeds: floor(k / 4) values are cut at each end, as scipy.stats.trim_mean
/// does. The interval is the percentile one of 10,000 seeded resamples of the seeds, without a stderr (Agarwal et al.
/// 2021; a run has one task, so its strata are one). Nothing for fewer seeds or a value that is not finite.
std::optional<Estimate> interquartile_mean(std::span<const double> seeds);

}  // namespace headprune
