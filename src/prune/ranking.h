// What the rules that remove heads one after the other have in common: their options, and the points of their curves.
#pragma once

#include <string>
#include <vector>

#include "prune/allowed.h"
#include "prune/order.h"
#include "prune/rule.h"

namespace headprune {

/// `keep_weights` of rules whose points have weights of their own, all or none of which stay for `export`.
enum class KeepModels { none, all };
template <>
struct EnumNames<KeepModels> {
  static constexpr std::pair<const char*, KeepModels> names[] = {{"none", KeepModels::none}, {"all", KeepModels::all}};
};

/// Which units a rule is about; the rules say what `kinds` and `unit` are to them.
struct UnitOptions : AllowedOptions {
  std::vector<Kind> kinds;
  std::optional<HeadUnit> unit;

  HeadUnit head_unit() const { return unit.value_or(HeadUnit::query); }
  RankedUnits units(const Blocks& blocks) const { return {blocks, head_unit()}; }
  /// `heads`: those that may not go.
  OrderLimits limits(const RankedUnits& units, const HeadSet& heads) const {
    return units.limits({.kinds = kinds, .fixed = heads});
  }
};

/// Which units a rule may remove.
struct RemovalOptions : UnitOptions {
  int64_t min_heads_per_layer = 0;

  template <class V>
  void fields(V& v) {
    v("kinds", kinds, "only these kinds of attention may lose heads, and fractions are of their heads; empty: all");
    v("min_heads_per_layer", min_heads_per_layer, "the best heads of each block that are never removed", at_least(0));
    v("unit", unit, kRankUnitHelp);
    AllowedOptions::fields(v);
  }
  OrderLimits limits(const RankedUnits& units, const HeadSet& heads) const {
    OrderLimits limits = UnitOptions::limits(units, heads);
    limits.min_heads_per_layer = min_heads_per_layer;
    return limits;
  }
};

/// Options shared by one_shot and iterative.
struct RankingOptions : RemovalOptions {
  std::vector<std::string> methods;
  Scope scope = Scope::global;

  template <class V>
  void fields(V& v) {
    v("methods", methods, "labels of the scores to rank by; empty: every score of the experiment");
    v("scope", scope, "global: one ranking of all heads; layer: the same fraction of every block");
    RemovalOptions::fields(v);
  }
  OrderLimits limits(const RankedUnits& units, const HeadSet& heads) const {
    OrderLimits limits = RemovalOptions::limits(units, heads);
    limits.scope = scope;
    return limits;
  }
};

/// The help of the option `heads`.
inline constexpr const char* kNumbersHelp =
    "numbers of heads to remove, one point each, beside the fractions (`fractions: []`: alone); with scope: layer of "
    "each "
    "block";

/// The heads that a rule may not remove, with a message where roles are not known yet.
HeadSet fixed_heads(const AllowedOptions& options, const RuleInput& input, RulePlan& plan);

/// Every draw of every method, in order.
std::vector<RankedBy> curves_of(const std::vector<MethodDraws>& methods);
/// "gradient_l1", and of a method with several draws "random, draw 2".
std::string curve_name(const RankedBy& by, const std::vector<MethodDraws>& methods);
/// Counts what so many scorings take.
void add_scorings(Unit& unit, const RankedBy& by, const std::vector<MethodDraws>& methods, int64_t scorings);
/// The score that the points of a unit are ranked by.
RankedBy ranked_by(const Unit& unit);

/// A curve that follows one order.
struct OrderedCurve {
  const Unit& unit;  // its points, one for each of `targets`
  const RankedUnits& units;
  const OrderLimits& limits;
  const std::vector<RemovalTarget>& targets;
  int64_t forward = 0, backward = 0;  // passes that led to the order, for points that lack a head
};
/// Evaluates growing prefixes of `order`.
void evaluate_along(const std::vector<HeadId>& order, const OrderedCurve& curve, Model& model, RuleHost& host);

/// The point of a sweep that lacks `units` units of those that `limits` let go. Method, draw, mask and passes are the
/// caller's to fill in.
PlannedPoint sweep_point(const RuleInput& input, const OrderLimits& limits, int64_t step, int64_t units);

}  // namespace headprune
