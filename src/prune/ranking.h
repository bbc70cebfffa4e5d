// What the rules that rank heads by scores have in common: their options, and the points of their curves.
#pragma once

#include <string>
#include <vector>

#include "prune/order.h"
#include "prune/rule.h"

namespace headprune {

/// Options shared by one_shot and iterative.
struct RankingOptions {
  std::vector<std::string> methods;
  Scope scope = Scope::global;
  std::vector<Kind> kinds;
  int64_t min_heads_per_layer = 0;

  template <class V>
  void fields(V& v) {
    v("methods", methods, "labels of the scores to rank by; empty: every score of the experiment");
    v("scope", scope, "global: one ranking of all heads; layer: the same fraction of every block");
    v("kinds", kinds, "only these kinds of attention may lose heads, and fractions are of their heads; empty: all");
    v("min_heads_per_layer", min_heads_per_layer, "the best heads of each block that are never removed", at_least(0));
  }
  OrderLimits limits() const { return {.scope = scope, .kinds = kinds, .min_heads_per_layer = min_heads_per_layer}; }
};

/// Curves of a sweep: one for each draw of each method.
int64_t curve_count(const std::vector<MethodDraws>& methods);

/// Which curve, and how its points are counted.
struct Curve {
  const SweepInput& input;
  std::string method;  // empty where no score ranks
  std::optional<int64_t> draw;
  OrderLimits limits;
  int64_t heads_total = 0;
};
/// The point of a curve that lacks `removed`; passes and fine-tuning are the caller's to fill in.
PlannedPoint curve_point(const Curve& curve, int64_t step, const HeadSet& removed);
/// Whether the record has a point for each target.
bool all_done(const Curve& curve, const std::vector<RemovalTarget>& targets);

}  // namespace headprune
