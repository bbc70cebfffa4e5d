#include "stats/curve.h"

#include <cmath>
#include <stdexcept>

#include "core/error.h"

namespace headprune {

std::optional<double> curve_area(const Curve& curve) {
  double area = 0;
  for (size_t i = 1; i < curve.size(); ++i) {
    const double width = curve[i].fraction - curve[i - 1].fraction;
    if (!(width > 0)) throw std::invalid_argument("curve_area: fractions must ascend");
    area += 0.5 * width * (curve[i].value + curve[i - 1].value);
  }
  if (curve.size() < 2 || !std::isfinite(area)) return std::nullopt;
  return area / (curve.back().fraction - curve.front().fraction);
}

std::optional<double> curve_area_minus(const Curve& curve, const Curve& control) {
  const std::optional<double> area = curve_area(curve), control_area = curve_area(control);
  if (!area || !control_area) return std::nullopt;
  if (curve.front().fraction != control.front().fraction || curve.back().fraction != control.back().fraction) {
    fail(ExitCode::run_failed,
         "the areas of two curves cannot be compared: one goes from fraction {} to {}, the other from {} to {}; give "
         "both sweeps the same first and last fraction",
         curve.front().fraction, curve.back().fraction, control.front().fraction, control.back().fraction);
  }
  return *area - *control_area;
}

std::optional<double> largest_fraction_within(const Curve& curve, double base, double drop, bool higher_is_better) {
  std::optional<double> largest;
  for (const CurveValue& point : curve) {
    const double worse = higher_is_better ? base - point.value : point.value - base;
    // 0.81 - 0.79 is a little more than 0.02 in binary.
    if (worse <= drop + 1e-12 && (!largest || point.fraction > *largest)) largest = point.fraction;
  }
  return largest;
}

}  // namespace headprune
