// Summaries of a whole curve: a metric over the fraction of heads removed (docs/definitions.md "Whole curves").
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

/// How much worse than the unpruned model a point may be: the far end of the interval of its drop.
struct DropBound {
  double fraction = 0;
  double bound = 0;
};

/// Place of the largest fraction up to which every point's bound is at most `tolerance`: the model is not inferior
/// there nor anywhere before. Nothing when that fails at the first. Throws std::invalid_argument when fractions do not
/// ascend.
std::optional<size_t> last_within(const std::vector<DropBound>& points, double tolerance);

}  // namespace headprune
