// How far two rankings of the same heads agree (docs/definitions.md "Agreement of rankings").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"

namespace headprune {

/// Spearman's rho with average ranks for ties; nothing for fewer than two values or when one side is constant.
std::optional<double> spearman(std::span<const double> a, std::span<const double> b);

/// Kendall's tau-b in O(n log n) (Knight 1966); nothing for fewer than two values or when one side is constant.
std::optional<double> kendall_tau_b(std::span<const double> a, std::span<const double> b);

/// Jaccard index of the k heads that go first (lowest score; ties by position, as orders break them). 1 for k = 0.
double topk_jaccard(std::span<const double> a, std::span<const double> b, int64_t k);

enum class AgreementStatistic { spearman, kendall_tau_b, topk_jaccard };
/// "spearman", "kendall_tau_b", "topk_jaccard", as in agreement.csv.
const char* to_string(AgreementStatistic statistic);

struct AgreementRequest {
  AgreementStatistic statistic = AgreementStatistic::spearman;
  int64_t k = 0;  // of topk_jaccard
};

struct Agreement {
  std::optional<double> value;  // absent where undefined
  std::optional<double> p;      // of no association
  int64_t n = 0;                // heads
};

/// What rankings look like by chance: orders of n heads, made once and shared by every comparison of as many heads.
class ChanceOrders {
 public:
  /// `count` seeded orders for each n; all n! of them up to n = 7.
  ChanceOrders(uint64_t seed, std::string_view name, int64_t count = 2000);

  /// Orders of n positions, one after another; the first is the identity, since the observed ranking counts too.
  const std::vector<uint32_t>& orders(size_t n);
  /// Chance that a random order of n things has at most i pairs in the wrong place, for i up to half of all pairs.
  const std::vector<double>& inversions(size_t n);

 private:
  uint64_t seed_;
  int64_t count_;
  std::map<size_t, std::vector<uint32_t>> orders_;
  std::map<size_t, std::vector<double>> inversions_;
};

/// The statistic and, with `chance`, its p under random orders of one side: two-sided for the correlations, one-sided
/// (at least that much overlap) for top-k. Exact for top-k (hypergeometric), for Kendall's tau without ties up to 500
/// heads (Kendall 1938: the distribution of inversions) and for everything up to 7 heads; else over chance.orders().
Agreement agreement(const AgreementRequest& request, std::span<const double> a, std::span<const double> b,
                    ChanceOrders* chance = nullptr);

}  // namespace headprune
