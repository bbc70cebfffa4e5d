// Methods of different sweeps side by side: what each is worth at equal heads, and what it cost to get there
// (docs/definitions.md "Quality against cost").
#pragma once

#include <string>
#include <vector>

#include "report/numbers/groups.h"

namespace headprune {

/// A curve under the name that tells it from those of other sweeps.
struct NamedCurve {
  std::string name;
  const CurveGroup* curve;

  /// The point without so many heads; null where the curve has none.
  const PointGroup* at(int64_t removed) const;
};

/// Curves that remove the same heads of the model that the run ends with.
struct Contest {
  std::string kind;
  std::vector<CurveGroup> curves;    // without random orders and orders from files of single seeds
  std::vector<CurveGroup> controls;  // random orders under the weights of the unpruned model; one or none
  std::vector<MaskList> masks;       // that were listed or learnt, at their own numbers of heads
  std::vector<int64_t> removed;      // numbers of heads that two curves or more have; neither none nor all
  int64_t heads_total = 0;

  /// In the order of the configuration.
  std::vector<NamedCurve> named() const;
};

/// One for each kind of which two sweeps or more have methods. A run of one sweep has none: its tables say it.
std::vector<Contest> contests(const Record& record);

/// Passes over a batch that led to a point, mean over its members: scoring, searching and training.
struct PointCost {
  double forward = 0, backward = 0;
  /// In forward passes: a backward pass takes about as long as two.
  double forward_equivalents() const { return forward + 2 * backward; }
};
PointCost cost_of(const PointGroup& point);

}  // namespace headprune
