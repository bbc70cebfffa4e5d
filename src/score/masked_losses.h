// Losses of the score split without some heads, for scores that take heads away instead of looking at them.
#pragma once

#include <array>
#include <vector>

#include "score/score.h"
#include "task/mask_evaluator.h"

namespace headprune {

/// Means over all examples, over those of even and over those of odd index.
using SplitMeans = std::array<double, 3>;
/// `of_examples` [N] float64.
SplitMeans split_means(const torch::Tensor& of_examples);

/// Zeros for every unit of `blocks`; with `error` standard errors too, and halves of two examples or more.
RawScores blank_scores(const Blocks& blocks, int64_t examples, bool error);
/// One unit's mean and halves, and the standard error of that mean.
struct UnitScore {
  SplitMeans means;
  double error = 0;
};
void set_score(RawScores& scores, size_t block, int64_t unit, const UnitScore& score);

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
