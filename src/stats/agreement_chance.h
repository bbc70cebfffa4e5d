// p of a rank agreement under random orders of one side; parts of agreement().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/agreement.h"

namespace headprune {

/// Twice the average rank of each value: whole numbers, whose sum over the heads is n (n + 1).
std::vector<int64_t> double_ranks(std::span<const double> values);

// Both sides have one value per head, at least two heads, and neither is constant.
double spearman_p(std::span<const double> a, std::span<const double> b, ChanceOrders& chance);
double kendall_p(std::span<const double> a, std::span<const double> b, ChanceOrders& chance);
/// Chance that two random choices of k of n things have at least `common` in common.
double overlap_p(int64_t n, int64_t k, int64_t common);

}  // namespace headprune
