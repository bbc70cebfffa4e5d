// One forward pass, and at most one backward pass, for everything that any score wants to see of a batch.
#pragma once

#include "score/score.h"

namespace headprune {

/// Holds the model in evaluation mode while it lives. Only what is asked for is differentiated: where gate gradients
/// suffice, the gates are the only leaves.
class Observer {
 public:
  Observer(const ScoreInput& input, const Needs& needs);
  /// What the batch shows. Throws Error(run_failed) naming the example when a loss that is to be differentiated is not
  /// finite. Safe to call for several batches at once.
  Observation observe(const Batch& batch) const;

 private:
  PerBlock batch_gates(const Batch& batch) const;

  const ScoreInput& input_;
  Needs needs_;
  Blocks blocks_;
  PerBlock kept_;  // [H] a block, 1 = takes part, in the model's type; undefined for a block without heads
  FrozenModel frozen_;
};

}  // namespace headprune
