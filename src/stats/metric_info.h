// The metrics of all tasks in one table: which way each gets better, and the range that none of its values, and so no
// interval, may leave.
#pragma once

#include <limits>
#include <string>

namespace headprune {

/// Both ends belong to it; infinite where there is none.
struct MetricRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool operator==(const MetricRange&) const = default;
};

struct MetricInfo {
  std::string name;
  bool higher_is_better = true;
  MetricRange range = {};
  bool proportion = false;  // a mean of zeros and ones
};

/// Throws std::logic_error for a name that no task has.
const MetricInfo& metric_info(const std::string& name);
/// Null for a name that no task has: one of a run that another version left.
const MetricInfo* find_metric(const std::string& name);
/// The same with a range that ends nowhere for such a name.
MetricInfo metric_info_or_unbounded(const std::string& name);

}  // namespace headprune
