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

std::optional<size_t> last_within(const std::vector<DropBound>& points, double tolerance) {
  std::optional<size_t> last;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i > 0 && !(points[i].fraction > points[i - 1].fraction))
      throw std::invalid_argument("last_within: fractions must ascend");
    // 0.81 - 0.79 is a little more than 0.02 in binary.
    if (!(points[i].bound <= tolerance + 1e-12)) break;
    last = i;
  }
  return last;
}

}  // namespace headprune
