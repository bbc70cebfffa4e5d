// How far two rankings of the same heads agree (formats.md section 14).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

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
  int64_t k = 0;                 // of topk_jaccard
  int64_t permutations = 10000;  // 0: no p
};

struct Agreement {
  std::optional<double> value;  // absent where undefined
  std::optional<double> p;      // of no association, by permutation of one side
  int64_t n = 0;                // heads
};

/// The statistic with its permutation p: two-sided for the correlations, one-sided (at least that much overlap) for
/// top-k. Exact over all n! permutations up to n = 7; else `permutations` random ones, and the observed one counts.
Agreement agreement(const AgreementRequest& request, std::span<const double> a, std::span<const double> b,
                    Random random);

}  // namespace headprune
