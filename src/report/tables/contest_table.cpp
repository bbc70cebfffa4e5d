#include "report/tables/contest_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/numbers/keyed_metrics.h"

namespace headprune {
namespace {

struct Entrant {
  std::string name;
  const PointGroup* point;
};

/// Who has a point there, the best first; values that are not finite last.
std::vector<Entrant> entrants(const Record& record, const Contest& contest, int64_t removed,
                              const std::string& metric) {
  std::vector<Entrant> found;
  std::vector<NamedCurve> curves = contest.named();
  for (const CurveGroup& control : contest.controls) curves.push_back({control.method, &control});
  for (const NamedCurve& curve : curves)
    if (const PointGroup* point = curve.at(removed); point != nullptr && point->metric(metric) != nullptr)
      found.push_back({curve.name, point});
  const bool higher = higher_is_better(record, metric);
  const auto worth = [&](const Entrant& one) {
    const double value = one.point->metric(metric)->estimate.value;
    return std::isfinite(value) ? (higher ? value : -value) : -INFINITY;
  };
  std::stable_sort(found.begin(), found.end(), [&](const Entrant& a, const Entrant& b) { return worth(a) > worth(b); });
  return found;
}

/// With its interval; of random orders the mean with the smallest and the largest.
std::string entrant_cell(const MetricSummary& metric, bool random) {
  if (!random) return estimate_text(metric.estimate);
  return fmt::format("{} ({} to {})", value_text(metric.estimate.value), value_text(metric.low),
                     value_text(metric.high));
}

/// "-0.012*": the entrant less the best method; "-" where the two cannot be compared.
std::string behind(const std::vector<MethodPair>& pairs, int64_t removed, const std::string& name,
                   const std::string& best) {
  for (const MethodPair& pair : pairs) {
    if (pair.heads_removed != removed) continue;
    const bool forwards = pair.method_a == name && pair.method_b == best;
    if (!forwards && !(pair.method_a == best && pair.method_b == name)) continue;
    const double delta = forwards ? pair.difference.delta : -pair.difference.delta;
    return change_text(delta) + (pair.q && *pair.q < kAlpha ? "*" : " ");
  }
  return "- ";
}

}  // namespace

TextRows contest_rows(const Record& record, const Contest& contest, const std::vector<MethodPair>& pairs) {
  const std::string metric = headline_metric(record);
  TextRows rows = {{"removed", "method", metric + " ", "less the best ", "forward", "backward"}};
  for (const int64_t removed : contest.removed) {
    const std::vector<Entrant> all = entrants(record, contest, removed, metric);
    const auto method = [&](const Entrant& one) { return !is_random(record, one.point->first().spec.method); };
    const auto best = std::find_if(all.begin(), all.end(), method);
    std::string fraction = fraction_text(removed, contest.heads_total);
    for (const Entrant& one : all) {
      const PointCost cost = cost_of(*one.point);
      const bool compared = best != all.end() && &one != &*best && method(one);
      rows.push_back({std::exchange(fraction, ""), one.name, entrant_cell(*one.point->metric(metric), !method(one)),
                      compared ? behind(pairs, removed, one.name, best->name) : "  ",
                      fmt::format("{:.0f}", cost.forward), fmt::format("{:.0f}", cost.backward)});
    }
  }
  return rows;
}

std::string contest_csv(const Record& record) {
  std::vector<CsvRow> rows;
  const auto add = [&](const std::string& kind, const std::string& name, const PointGroup& point) {
    const PointResult& first = point.first();
    const PointCost cost = cost_of(point);
    for (const MetricSummary& metric : point.metrics) {
      const auto& ci95 = metric.estimate.ci95;
      rows.push_back({kind, first.spec.sweep, name, first.spec.heads_removed, first.heads_total, metric.name,
                      metric.estimate.value, ci95 ? Cell((*ci95)[0]) : Cell(), ci95 ? Cell((*ci95)[1]) : Cell(),
                      metric.over, cost.forward, cost.backward, static_cast<int64_t>(metric.seeds.size())});
    }
  };
  for (const Contest& contest : contests(record)) {
    std::vector<NamedCurve> curves = contest.named();
    for (const CurveGroup& control : contest.controls) curves.push_back({control.method, &control});
    for (const NamedCurve& curve : curves)
      for (const PointGroup& point : curve.curve->points) add(contest.kind, curve.name, point);
    for (const MaskList& list : contest.masks)
      for (const PointGroup& point : list.points) add(contest.kind, list.sweep + " " + point.first().spec.name, point);
  }
  return csv_text({"kind", "sweep", "method", "heads_removed", "heads_total", "metric", "value", "ci_low", "ci_high",
                   "over", "forward", "backward", "seeds"},
                  std::move(rows));
}

}  // namespace headprune
