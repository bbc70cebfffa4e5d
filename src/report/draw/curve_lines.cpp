#include "report/draw/curve_lines.h"

#include <fmt/format.h>

#include <cmath>

#include "report/text/text_table.h"

namespace headprune {
namespace {

std::string point_title(const std::string& label, const PointGroup& point, const MetricSummary& metric) {
  const PointResult& first = point.first();
  if (first.other_model())
    return fmt::format("{}, {}: {} {}", label, first.spec.name, metric.name, estimate_text(metric.estimate));
  return fmt::format("{}, {} removed ({} of {} heads): {} {}", label, percent(first.fraction), first.spec.heads_removed,
                     first.heads_total, metric.name, estimate_text(metric.estimate));
}

}  // namespace

std::string percent(double fraction) { return fmt::format("{:.3g} %", 100 * fraction); }

LineSeries line_of(const std::string& label, std::span<const PointGroup> points, const std::string& metric) {
  LineSeries series{label, {}, true};
  for (const PointGroup& point : points) {
    const MetricSummary* summary = point.metric(metric);
    if (summary == nullptr) continue;
    LinePoint one{100 * point.first().fraction, summary->estimate.value, {}, {}, point_title(label, point, *summary)};
    if (summary->estimate.ci95) {
      one.low = (*summary->estimate.ci95)[0];
      one.high = (*summary->estimate.ci95)[1];
    }
    series.points.push_back(std::move(one));
  }
  return series;
}

std::string what_is_measured(const Record& record, const PointGroup& point, const std::string& metric) {
  const MetricSummary* summary = point.metric(metric);
  std::string text = fmt::format("{}, {} split", metric, point.first().split);
  if (summary == nullptr) return text;
  text += fmt::format(", n = {}", count_text(summary->estimate.n, "example"));
  if (summary->seeds.size() > 1) text += fmt::format(", {} seeds", summary->seeds.size());
  for (const auto& pair : record.facts ? record.facts->shared_splits : std::vector<std::array<std::string, 2>>()) {
    if (pair[0] == point.first().split || pair[1] == point.first().split)
      text += fmt::format(" (same data as {})", pair[0] == point.first().split ? pair[1] : pair[0]);
  }
  return text;
}

void set_limits(LineChart& chart, const MetricInfo& metric) {
  if (std::isfinite(metric.range.low)) chart.y_least = metric.range.low;
  if (std::isfinite(metric.range.high)) chart.y_most = metric.range.high;
}

void set_level(LineChart& chart, const std::optional<MetricSummary>& unpruned) {
  if (!unpruned) return;
  chart.level = unpruned->estimate.value;
  chart.level_label = fmt::format("unpruned: {}", value_text(unpruned->estimate.value));
}

void add_band(LineChart& chart, const CurveGroup& control, const std::string& metric) {
  int64_t draws = 1;
  size_t seeds = 1;
  for (const PointGroup& point : control.points) {
    const MetricSummary* summary = point.metric(metric);
    if (summary == nullptr) continue;
    draws = std::max(draws, summary->draws);
    seeds = std::max(seeds, summary->seeds.size());
    chart.band.push_back({100 * point.first().fraction, summary->low, summary->high, summary->estimate.value,
                          fmt::format("{}, {} removed: mean {} {}, smallest {}, largest {}", control.method,
                                      percent(point.first().fraction), metric, value_text(summary->estimate.value),
                                      value_text(summary->low), value_text(summary->high))});
  }
  const std::string of = seeds > 1 ? fmt::format(" x {}", count_text(static_cast<int64_t>(seeds), "seed")) : "";
  chart.band_label =
      fmt::format("{}: mean, smallest to largest of {}{}", control.method, count_text(draws, "order"), of);
}

}  // namespace headprune
