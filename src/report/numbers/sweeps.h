// The curves of a sweep side by side.
#pragma once

#include <vector>

#include "report/numbers/groups.h"

namespace headprune {

/// The curves of one sweep that can stand in one table.
struct Sweep {
  std::vector<CurveGroup> curves;    // methods
  std::vector<CurveGroup> controls;  // random
  std::vector<PointGroup> trained;   // the intact model, trained as long as the points of the same step
  const CurveGroup& any() const { return curves.empty() ? controls.front() : curves.front(); }
};

/// In the order of the configuration.
std::vector<Sweep> sweeps_of(const Record& record);

}  // namespace headprune
