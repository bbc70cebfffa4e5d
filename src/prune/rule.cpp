#include "prune/rule.h"

#include <algorithm>

namespace headprune {
namespace {

int64_t sum_over(const std::vector<Unit>& units, int64_t Unit::*cost) {
  int64_t sum = 0;
  for (const Unit& unit : units) sum += unit.*cost;
  return sum;
}

}  // namespace

int64_t RulePlan::points() const {
  int64_t count = 0;
  for (const Unit& unit : units) count += std::ssize(unit.points);
  return count;
}

int64_t RulePlan::scorings() const { return sum_over(units, &Unit::scorings); }
int64_t RulePlan::score_masks() const { return sum_over(units, &Unit::score_masks); }
int64_t RulePlan::select_masks() const { return sum_over(units, &Unit::select_masks); }
int64_t RulePlan::train_steps() const { return sum_over(units, &Unit::train_steps); }

bool RulePlan::trains_weights() const {
  return std::any_of(units.begin(), units.end(), [](const Unit& unit) {
    return unit.train_steps > 0 && std::any_of(unit.points.begin(), unit.points.end(),
                                               [](const PlannedPoint& point) { return point.fine_tuned; });
  });
}

int64_t RulePlan::kept_models() const {
  int64_t count = 0;
  for (const Unit& unit : units)
    count +=
        std::count_if(unit.points.begin(), unit.points.end(), [](const PlannedPoint& p) { return p.keep_weights; });
  return count;
}

void run_rule(const PruneRule& rule, const RulePlan& plan, Model& model, RuleHost& host) {
  for (const Unit& unit : plan.units) {
    // Nothing needs to be scored, trained or loaded for a unit that is there.
    const bool complete = std::all_of(unit.points.begin(), unit.points.end(),
                                      [&](const PlannedPoint& point) { return host.done(point.spec); });
    if (complete) continue;
    host.begin(unit);
    rule.run(unit, model, host);
  }
}

}  // namespace headprune
