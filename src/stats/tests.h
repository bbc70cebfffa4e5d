// Paired tests and the correction for many of them (docs/definitions.md "Statistics").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "stats/estimate.h"

namespace headprune {

/// Exact two-sided p of McNemar's test: the binomial test of `b` against `b + c` at one half. b and c are the examples
/// on which only the one or only the other model is right. b + c = 0 gives 1.
double mcnemar_exact(int64_t b, int64_t c);

/// Difference of two accuracies on the same n examples, test "mcnemar". `gained`: examples that only the pruned model
/// gets right, `lost`: that only the base does. delta = (gained - lost) / n; stderr sqrt(gained + lost - n delta^2) / n
/// (Fleiss 1981, section 8.1); the interval is that of Bonett and Price (2012), which adds one example to either count:
/// it agrees with the exact test where few examples change, and is not a point where none does. n >= 1.
Difference paired_accuracy_difference(int64_t gained, int64_t lost, int64_t n);

/// q values of Benjamini and Hochberg (1995), in the order of `p`; monotone in p, at most 1. Every p is in [0, 1].
std::vector<double> benjamini_hochberg(std::span<const double> p);

/// Tests whose p are corrected together: what is printed as one table. A comparison that stands in several rows counts
/// once.
class TestFamily {
 public:
  /// `q` is set by correct(), and must stay where it is until then. `comparison`: what is compared; empty: unlike every
  /// other.
  void add(double p, std::optional<double>& q, const std::string& comparison = "");
  void correct() const;

 private:
  std::vector<double> p_;
  std::vector<std::pair<std::optional<double>*, size_t>> rows_;  // q, and which p it comes of
  std::map<std::string, size_t> places_;
};

/// Mean of b less that of a, independent of each other, with Welch's (1947) t interval and p, test "welch". Fewer than
/// two values on a side, or no spread on both: delta alone.
Difference welch(std::span<const double> a, std::span<const double> b);

/// Smallest two-sided p that a sign-flip test over k pairs can give: 2 / 2^k.
double smallest_sign_flip_p(int64_t k);

/// Two-sided p of the paired sign-flip permutation test of a zero mean: exact over all 2^k flips up to k = 20, with
/// 100,000 seeded flips (and the observed one) beyond. Nothing for fewer than two differences.
std::optional<double> sign_flip_p(std::span<const double> differences, Random random);

}  // namespace headprune
