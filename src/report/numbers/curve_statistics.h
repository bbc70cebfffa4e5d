// A whole curve in a few numbers, each with its interval (docs/definitions.md "Whole curves").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/numbers/areas.h"
#include "report/numbers/sweeps.h"

namespace headprune {

struct DropLimit {
  double drop = 0;    // tolerated, in the metric's units
  std::string label;  // "0.01", "5 %"
};

/// The largest fraction of heads that may go: up to it, at every point, the interval of the drop from the unpruned
/// model stays within the limit. 0 where that fails at the first point.
struct WithinLimit {
  double fraction = 0;
  std::optional<std::array<double, 2>> drop;  // interval of the drop at that fraction; absent at 0
  /// The drop at the next point is within the limit and has no interval, so whether that stays within is not known.
  /// Else it does not, or there is no next point.
  bool then_unknown = false;
};

struct CurveStatistics {
  std::string method;
  std::string range;                    // fractions that the area covers, "0 to 1"; shorter in an unfinished run
  double width = 0;                     // of that range
  std::optional<Estimate> area;         // mean height: trapezoid area divided by the range of fractions
  std::optional<AgainstRandom> random;  // beside the random orders of the same sweep
  std::vector<WithinLimit> within;      // for each limit; empty where the unpruned model lacks the metric
  bool one_order = false;               // random, on one model: nothing is known of other orders, and `within` is empty
};

/// Drops that are tolerated: 0.01, 0.02, 0.05 for metrics that end at 1 (accuracy, F1, correlations), else 1 %, 2 %
/// and 5 % of the value of the unpruned model that `sweep` is about.
std::vector<DropLimit> drop_limits(const Record& record, const Sweep& sweep, const std::string& metric);

/// One for each curve and control of the sweep.
std::vector<CurveStatistics> curve_statistics(const Record& record, const Sweep& sweep, const std::string& metric);

}  // namespace headprune
