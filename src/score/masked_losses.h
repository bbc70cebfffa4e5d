// Losses of the score split without some heads, for scores that take heads away instead of looking at them.
#pragma once

#include <vector>

#include "score/score.h"
#include "task/mask_evaluator.h"

namespace headprune {

class MaskedLosses {
 public:
  /// `score` is named in errors. `input` lives as long as this does.
  MaskedLosses(std::string score, const ScoreInput& input);
  const ScoreUnits& units() const { return units_; }
  /// The units that are there to be taken away, of all blocks.
  const std::vector<HeadId>& present() const { return present_; }
  /// What every example comes to without the heads removed so far and those of `without`, units; in the split's order.
  /// Throws Error(run_failed) naming the example whose loss is not finite.
  Outcomes outcomes(const HeadSet& without);
  /// Each example's loss among outcomes. [N] float64
  static torch::Tensor losses(const Outcomes& outcomes);
  int64_t masks() const { return masks_; }

 private:
  std::string score_;
  const ScoreInput& input_;
  ScoreUnits units_;
  Blocks heads_;
  std::vector<HeadId> present_;
  MaskEvaluator evaluator_;
  int64_t masks_ = 0;
};

}  // namespace headprune
