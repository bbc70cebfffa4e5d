// Correlations as statistics for the bootstrap (stats/bootstrap.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headprune {

/// Sums over n pairs (a, b).
struct PairSums {
  double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
};

/// Pearson's correlation; 0 when one side is constant. In -1 ... 1 whatever the rounding.
double correlation_of_sums(const PairSums& sums);

/// Spearman's rho of pairs that occur so many times each: ranks, averaged over ties, are those of the pairs that are
/// there. 0 when one side is constant. Linear in n for each call.
class SpearmanOfCounts {
 public:
  SpearmanOfCounts(std::span<const double> a, std::span<const double> b);
  /// One count a pair.
  double operator()(std::span<const uint8_t> counts) const;

 private:
  /// One side, sorted once: rows in ascending order, and where a run of equal values ends.
  struct Side {
    std::vector<size_t> order;
    std::vector<char> ends_run;  // by place in `order`
  };
  static Side sorted(std::span<const double> values);
  static std::vector<double> ranks(const Side& side, std::span<const uint8_t> counts);

  Side a_, b_;
};

}  // namespace headprune
