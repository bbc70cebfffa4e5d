#include "report/numbers/curve_statistics.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "report/numbers/areas.h"
#include "stats/curve.h"

namespace headprune {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// Interval of how much worse a point is than the unpruned model: positive is worse. A change of 0 on every example
/// without an interval is unknown too: of the others these examples say no more than that few changes are likely, and
/// one is enough to move F1 or a correlation a long way.
std::array<double, 2> drop_interval(const Difference& difference, bool higher_is_better) {
  if (!difference.ci95) return {-kUnknown, kUnknown};
  const auto& [low, high] = *difference.ci95;
  return higher_is_better ? std::array<double, 2>{-high, -low} : std::array<double, 2>{low, high};
}

/// The points of a curve that have a difference, by fraction.
struct Drops {
  std::vector<DropBound> bounds;
  std::vector<std::optional<double>> unknown;  // the drop, where it has no interval; not where the model broke
  std::vector<std::array<double, 2>> intervals;
};

Drops drops_of(const Record& record, const CurveGroup& curve, const std::string& metric, bool higher) {
  std::set<int64_t> failed;  // numbers of heads at which the model broke: nothing larger is known to be within a limit
  for (const PointSpec& spec : failed_points(record, curve)) failed.insert(spec.heads_removed);
  Drops drops;
  for (const PointGroup& point : curve.points) {
    const MetricSummary* summary = point.metric(metric);
    if (summary == nullptr || !summary->difference || point.first().spec.heads_removed == 0) continue;
    const int64_t removed = point.first().spec.heads_removed;
    const bool broke = !failed.empty() && *failed.begin() <= removed;
    drops.intervals.push_back(broke ? std::array<double, 2>{-kUnknown, kUnknown}
                                    : drop_interval(*summary->difference, higher));
    drops.bounds.push_back({point.first().fraction, drops.intervals.back()[1]});
    drops.unknown.emplace_back();
    if (!broke && !summary->difference->ci95)
      drops.unknown.back() = higher ? -summary->difference->delta : summary->difference->delta;
  }
  return drops;
}

WithinLimit within(const Drops& drops, double limit) {
  const std::optional<size_t> last = last_within(drops.bounds, limit);
  const size_t next = last ? *last + 1 : 0;
  // Any interval holds the drop itself.
  const bool then_unknown = next < drops.unknown.size() && drops.unknown[next] && *drops.unknown[next] <= limit;
  if (!last) return {0, std::nullopt, then_unknown};
  return {drops.bounds[*last].fraction, drops.intervals[*last], then_unknown};
}

}  // namespace

std::vector<DropLimit> drop_limits(const Record& record, const Sweep& sweep, const std::string& metric) {
  if (metric_info(record, metric).range.high == 1) return {{0.01, "0.01"}, {0.02, "0.02"}, {0.05, "0.05"}};
  std::vector<DropLimit> limits;
  const std::optional<MetricSummary> summary = base_metric(record, metric, sweep.any().at_step);
  if (!summary || !std::isfinite(summary->estimate.value)) return limits;
  for (const double share : {0.01, 0.02, 0.05})
    limits.push_back({share * std::abs(summary->estimate.value), fmt::format("{:.0f} %", 100 * share)});
  return limits;
}

std::vector<CurveStatistics> curve_statistics(const Record& record, const Sweep& sweep, const std::string& metric) {
  const bool higher = higher_is_better(record, metric);
  const std::vector<AreaSummary> control_areas =
      sweep.controls.empty() ? std::vector<AreaSummary>() : curve_areas(record, sweep.controls.front());
  const AreaSummary* control = area_of(control_areas, metric);
  std::vector<CurveStatistics> all;
  for (const auto* list : {&sweep.curves, &sweep.controls}) {
    for (const CurveGroup& curve : *list) {
      CurveStatistics statistics;
      statistics.method = curve.name();
      statistics.one_order = one_random_order(record, curve);
      const std::vector<AreaSummary> areas = curve_areas(record, curve);
      if (const AreaSummary* area = area_of(areas, metric)) {
        statistics.range = range_text(*area);
        statistics.width = area->to - area->from;
        statistics.area = area->estimate;
        if (control != nullptr && list == &sweep.curves) statistics.random = against_random(record, *area, *control);
      }
      const Drops drops = drops_of(record, curve, metric, higher);
      if (base_metric(record, metric, sweep.any().at_step) && !statistics.one_order)
        for (const DropLimit& limit : drop_limits(record, sweep, metric))
          statistics.within.push_back(within(drops, limit.drop));
      all.push_back(std::move(statistics));
    }
  }
  return all;
}

}  // namespace headprune
