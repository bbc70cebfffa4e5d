// Likelihoods of texts that may follow a context.
#pragma once

#include <vector>

#include "core/torch.h"

namespace headprune {

/// Of each row the sum, over positions that have a target (kNoTarget: none), of the logarithm of the target's
/// probability, in nats: `values` [R, T, vocabulary], `targets` [R, T]. A row without any has 0.
std::vector<double> choice_log_likelihoods(const torch::Tensor& values, const torch::Tensor& targets);

}  // namespace headprune
