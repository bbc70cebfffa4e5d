// Summaries of a whole curve: a metric over the fraction of heads removed (formats.md section 14).
#pragma once

#include <optional>
#include <vector>

namespace headprune {

struct CurveValue {
  double fraction = 0;
  double value = 0;
};
using Curve = std::vector<CurveValue>;  // ascending, distinct fractions

/// Trapezoid area over fraction, divided by the range of fractions: the mean height. Nothing for fewer than two points
/// or a non-finite value. Throws std::invalid_argument when fractions do not ascend.
std::optional<double> curve_area(const Curve& curve);

/// curve_area(curve) - curve_area(control), the control being for example the mean of the random draws. Both are taken
/// as piecewise linear, so the grids in between may differ; different end points are an Error(run_failed).
std::optional<double> curve_area_minus(const Curve& curve, const Curve& control);

/// Largest fraction on the curve whose value is worse than `base` by at most `drop`; nothing when there is none.
std::optional<double> largest_fraction_within(const Curve& curve, double base, double drop, bool higher_is_better);

}  // namespace headprune
