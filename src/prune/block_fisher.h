// The gates' empirical Fisher information, block by block (Kwon et al. 2022, arXiv 2204.09656, sections 4.1 and 4.2).
#pragma once

#include <vector>

#include "score/score.h"

namespace headprune {

/// dl(x)/dgate of every example and unit of the input: [N, U] float64 a block, CPU; undefined for a block without
/// heads. The gate of a group is one number, so its gradient is the sum of its heads'.
PerBlock gate_gradients(const ScoreInput& input);

/// sum over x of (sum over removed units of dl(x)/dgate)^2: what a removal costs to second order, if losses of examples
/// are independent. `gradients` [N, U], `removed` places on the axis of units.
double block_fisher(const torch::Tensor& gradients, const std::vector<int64_t>& removed);

/// As many units as `removed` has, whose block Fisher is least; `removed` where nothing is better. Every choice is
/// tried where there are at most kMostChoices; with more, the best single exchange is made until none helps, as their
/// code does. `fixed` places do not move. Ascending.
inline constexpr int64_t kMostChoices = 20'000;
std::vector<int64_t> rearranged(const torch::Tensor& gradients, const std::vector<int64_t>& removed,
                                const std::vector<bool>& fixed);

}  // namespace headprune
