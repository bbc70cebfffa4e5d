// A whole curve in a few numbers, each with the interval that the record allows (formats.md section 14).
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/sweeps.h"

namespace headprune {

/// A number, its 95 % interval and what that is taken over: "seeds" (Student's t; for fractions the smallest and
/// largest seed), "examples" (bootstrap over stored samples), or "" without an interval.
struct CurveNumber {
  std::optional<double> value;  // absent where undefined
  std::optional<std::array<double, 2>> interval;
  std::string over;
};

struct DropLimit {
  double drop = 0;    // tolerated, in the metric's units
  std::string label;  // "0.01", "5 %"
};

struct CurveStatistics {
  std::string method;
  std::string range;                // fractions that the area covers, "0 to 1"; shorter in a run that is not finished
  CurveNumber area;                 // mean height: trapezoid area divided by the range of fractions
  CurveNumber minus_random;         // less that of the mean random order
  std::vector<CurveNumber> within;  // largest fraction removed for each limit
};

/// Drops that are tolerated: 0.01, 0.02, 0.05 for metrics between -1 and 1 (accuracy, F1, correlations), else 1 %, 2 %
/// and 5 % of the value of the unpruned model that `sweep` is about.
std::vector<DropLimit> drop_limits(const Record& record, const Sweep& sweep, const std::string& metric);

/// One for each curve and control of the sweep. `run_folder` is where samples lie.
std::vector<CurveStatistics> curve_statistics(const Record& record, const std::filesystem::path& run_folder,
                                              const Sweep& sweep, const std::string& metric);

}  // namespace headprune
