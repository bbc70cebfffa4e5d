// Areas under curves: the mean height of a metric over the fraction of heads removed, with the uncertainty of examples,
// seeds and orders, and its place among random orders (docs/definitions.md "Whole curves").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/numbers/groups.h"
#include "report/numbers/repetitions.h"

namespace headprune {

/// Area under a curve (stats/curve.h), by seed and over seeds.
struct AreaSummary {
  std::string metric;
  double from = 0, to = 0;  // fractions between which it was taken
  Estimate estimate;        // n = examples; without an interval where one_random_order()
  Repetitions repetitions;  // areas of seeds, or of orders
  int64_t draws = 1;
  double low = 0, high = 0;  // smallest and largest of all members
};

/// One for each metric whose curve has the same end points for every seed and draw; metrics with a non-finite value or
/// a single fraction are left out.
std::vector<AreaSummary> curve_areas(const Record& record, const CurveGroup& curve);
/// The area of a metric; null without one.
const AreaSummary* area_of(const std::vector<AreaSummary>& areas, const std::string& metric);
/// The fractions that an area covers: "0 to 1".
std::string range_text(const AreaSummary& area);

/// A method's area against those of random orders of the same models.
struct AgainstRandom {
  /// Area less the mean of the random orders': orders (or seeds, each with orders of its own) and examples both vary.
  /// Its p is dropped: what may be claimed is the rank.
  Difference difference;
  int64_t as_good = 0, orders = 0;  // orders whose area is at least as good, of how many
  double p = 1;                     // (as_good + 1) / (orders + 1), one-sided
};

/// The orders that it takes before a rank p, at least 1 / (orders + 1), can fall below 0.05.
inline constexpr int64_t kEnoughOrders = 20;

/// Nothing without a control that has the same seeds and end points. Of several seeds that differ, order j is taken
/// over the seeds as the method is.
std::optional<AgainstRandom> against_random(const Record& record, const AreaSummary& area, const AreaSummary& random);

/// "2 of 5 random orders at least as good, p = 0.5; p < 0.05 takes 20 orders"
/// `chosen_of`: how many methods it was the best of, which the second p makes up for.
std::string rank_text(const AgainstRandom& against, size_t chosen_of = 1);

}  // namespace headprune
