// What charts of a metric over the part of heads removed have in common. Internal to report.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/draw/line_chart.h"
#include "report/numbers/groups.h"

namespace headprune {

/// "25 %"
std::string percent(double fraction);

/// The metric over the percentage of heads removed, with its intervals; points without the metric are left out.
LineSeries line_of(const std::string& label, std::span<const PointGroup> points, const std::string& metric);

/// "accuracy, report split, n = 1000 examples, 3 seeds"
std::string what_is_measured(const Record& record, const PointGroup& point, const std::string& metric);

/// Where a metric ends.
void set_limits(LineChart& chart, const MetricInfo& metric);

/// Random orders as a band from the smallest to the largest, with their mean.
void add_band(LineChart& chart, const CurveGroup& control, const std::string& metric);

/// The unpruned model's value as a horizontal line, where there is one.
void set_level(LineChart& chart, const std::optional<MetricSummary>& unpruned);

}  // namespace headprune
