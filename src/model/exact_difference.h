// Whether two forms of a model differ by more than rounding.
#pragma once

#include "model/model.h"

namespace headprune {

/// How far two forms may be apart in float64, relative to the largest logit where that exceeds 1.
inline constexpr double kExactTolerance = 1e-9;

struct ExactDifference {
  double difference = 0;  // max |masked - removed| over all logits
  double tolerance = 0;   // kExactTolerance times the largest logit, or 1 where that is less
  bool equal() const { return difference <= tolerance; }  // not where either is NaN
};

/// Of copies of both models in float64: where float32 differs by more than expected, this tells sums in another order
/// from another function. `gates` as in HeadProbe, of `masked`. Takes the memory of two models of 8 bytes a parameter.
ExactDifference exact_difference(const Model& masked, const PerBlock& gates, const Model& removed, const Batch& batch);

}  // namespace headprune
