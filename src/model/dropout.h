// Dropout (Srivastava et al. 2014).
#pragma once

#include "core/torch.h"

namespace headprune {

/// Where `training`: every number of `x` is 0 with probability `p`, in [0, 1), and else divided by 1 - p, so that its
/// mean stays; elsewhere `x` itself. On the CPU `p` is taken to the nearest of 65,536 steps, and its 16 random bits a
/// number come from LibTorch's generator: at::dropout makes a double for each, on one core, which takes a fifth of a
/// training step.
torch::Tensor apply_dropout(const torch::Tensor& x, double p, bool training);

}  // namespace headprune
