#include "prune/ranking.h"

#include <algorithm>

namespace headprune {

HeadSet fixed_heads(const AllowedOptions& options, const RuleInput& input, RulePlan& plan) {
  for (const std::string& role : options.unknown_roles(input.roles))
    plan.messages.push_back(fmt::format(
        "protect: which heads are {} is known once the analyses have run; until then as if none were", role));
  return options.fixed(input.blocks, input.roles);
}

std::vector<RankedBy> curves_of(const std::vector<MethodDraws>& methods) {
  std::vector<RankedBy> curves;
  for (const MethodDraws& method : methods)
    for (int64_t draw = 0; draw < method.draws; ++draw) curves.push_back({method.label, draw});
  return curves;
}

std::string curve_name(const RankedBy& by, const std::vector<MethodDraws>& methods) {
  const bool several = std::any_of(methods.begin(), methods.end(), [&](const MethodDraws& method) {
    return method.label == by.method && method.draws > 1;
  });
  return several ? fmt::format("{}, draw {}", by.method, by.draw) : by.method;
}

void add_scorings(Unit& unit, const RankedBy& by, const std::vector<MethodDraws>& methods, int64_t scorings) {
  for (const MethodDraws& method : methods) {
    if (method.label != by.method) continue;
    if (method.needs_data) unit.scorings += scorings;
    unit.score_masks += scorings * method.masks;
  }
}

RankedBy ranked_by(const Unit& unit) {
  const PointSpec& spec = unit.points.front().spec;
  return {spec.method, spec.draw.value_or(0)};
}

void evaluate_along(const std::vector<HeadId>& order, const OrderedCurve& curve, Model& model, RuleHost& host) {
  const RankedUnits& units = curve.units;
  for (size_t i = 0; i < curve.targets.size(); ++i) {
    PlannedPoint point = curve.unit.points[i];
    point.removed = units.heads(choose_heads(order, units.blocks(), curve.limits, curve.targets[i], {}));
    if (!point.removed.empty()) {  // the intact model needs no order
      point.forward = curve.forward;
      point.backward = curve.backward;
    }
    host.evaluate(model, point);
  }
}

PlannedPoint sweep_point(const RuleInput& input, const OrderLimits& limits, int64_t step, int64_t units) {
  PlannedPoint point;
  point.spec.seed = input.seed;
  point.spec.sweep = input.sweep;
  point.spec.rule = input.rule;
  point.spec.at_step = input.at_step;
  point.spec.kind = kinds_text(limits.kinds);
  point.spec.heads_removed = units * limits.heads_per_unit;
  point.step = step;
  point.scope = enum_name(limits.scope);
  point.heads_total = count_eligible(in_units(input.blocks, limits.unit), limits) * limits.heads_per_unit;
  point.fixed = heads_of_units(limits.fixed, input.blocks, limits.unit);
  point.fraction = static_cast<double>(point.spec.heads_removed) / static_cast<double>(point.heads_total);
  return point;
}

}  // namespace headprune
