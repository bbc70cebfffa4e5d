#include "prune/ranking.h"

#include <algorithm>

namespace headprune {

int64_t curve_count(const std::vector<MethodDraws>& methods) {
  int64_t count = 0;
  for (const MethodDraws& method : methods) count += method.draws;
  return count;
}

PlannedPoint curve_point(const Curve& curve, int64_t step, const HeadSet& removed) {
  PlannedPoint point;
  point.spec.seed = curve.input.seed;
  point.spec.method = curve.method;
  point.spec.draw = curve.draw;
  point.spec.sweep = curve.input.sweep;
  point.spec.rule = curve.input.rule;
  point.spec.at_step = curve.input.at_step;
  point.spec.kind = kinds_text(curve.limits.kinds);
  point.spec.heads_removed = removed.size();
  point.step = step;
  point.scope = enum_name(curve.limits.scope);
  point.heads_total = curve.heads_total;
  point.fraction = static_cast<double>(removed.size()) / static_cast<double>(curve.heads_total);
  point.removed = removed;
  return point;
}

bool all_done(const Curve& curve, const std::vector<RemovalTarget>& targets) {
  PlannedPoint point = curve_point(curve, 0, {});
  return std::all_of(targets.begin(), targets.end(), [&](const RemovalTarget& target) {
    point.spec.heads_removed = target.heads;
    return curve.input.host.done(point.spec);
  });
}

}  // namespace headprune
