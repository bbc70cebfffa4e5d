// Scales of surviving heads that bring each block's output nearer to what it was (Kwon et al. 2022, section 4.3).
#pragma once

#include <string>
#include <vector>

#include "score/score.h"

namespace headprune {

struct TunedScales {
  PerBlock scales;      // [H] a block, float64, CPU: 0 where removed; undefined for a block without heads
  std::string stopped;  // the block at which a scale passed kMostScale, which keeps 1 from there on; empty: none did
  int64_t forward = 0;  // batches run
};

/// Beyond it a fit is not believed, as in their code.
inline constexpr double kMostScale = 10;

/// Block after block in the order of a pass: the s that minimise, over all positions of the input's examples that are
/// not padding, |sum of s_h o_h - t|^2 + damp^2 |s - 1|^2, with o_h what surviving head h gives to the residual stream
/// under the scales of the blocks before, and t what all heads give in the intact model. Solved by the normal equations
/// in float64. `removed` is gone; the input's own `removed` is not looked at.
TunedScales tuned_scales(const ScoreInput& input, const HeadSet& removed, double damp);

/// min |A s - t|^2 + damp^2 |s - 1|^2 from `gram` = A^T A [n, n] and `towards` = A^T t [n]: s [n].
torch::Tensor damped_scales(const torch::Tensor& gram, const torch::Tensor& towards, double damp);

/// Multiplies what each head gives by its scale, in the columns of the output projections. Removed heads keep theirs.
void fold_scales(Model& model, const PerBlock& scales);

}  // namespace headprune
