// What a reader of a metric's numbers must know of it.
#pragma once

#include <limits>
#include <string>

namespace headprune {

/// The range that none of its values, and so no interval, may leave. Both ends belong to it; infinite where there is
/// none.
struct MetricRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool operator==(const MetricRange&) const = default;
};

struct MetricInfo {
  std::string name = {};
  bool higher_is_better = true;
  MetricRange range = {};
  std::string unit = {};    // of its values; empty for a number without one
  bool proportion = false;  // a mean of zeros and ones

  bool operator==(const MetricInfo&) const = default;
};

}  // namespace headprune
