// All sweeps in one picture, and what each method's points cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/draw/curve_lines.h"
#include "report/numbers/contest.h"
#include "report/page/figures.h"

namespace headprune {
namespace {

/// Every sweep's curves over the part of heads removed, and masks at their own places.
Svg all_curves(const Record& record, const Contest& contest, const std::string& metric) {
  LineChart chart;
  chart.title = fmt::format("All sweeps, {} heads", contest.kind);
  chart.y_label = what_is_measured(record, contest.curves.front().points.front(), metric);
  chart.x_label = "heads removed (%)";
  chart.x_range = {0, 100};
  set_limits(chart, metric_info(record, metric));
  for (const NamedCurve& curve : contest.named())
    chart.series.push_back(line_of(curve.name, curve.curve->points, metric));
  for (const MaskList& list : contest.masks) {
    std::vector<PointGroup> points = list.points;
    std::stable_sort(points.begin(), points.end(), [](const PointGroup& a, const PointGroup& b) {
      return a.first().spec.heads_removed < b.first().spec.heads_removed;
    });
    chart.series.push_back(
        line_of(list.sweep + (list.seed ? fmt::format(", seed {}", *list.seed) : ""), points, metric));
  }
  if (!contest.controls.empty()) add_band(chart, contest.controls.front(), metric);
  set_level(chart, base_metric(record, metric));
  return draw_line_chart(chart);
}

/// A metric over what it cost at one number of heads; a point is a method.
Svg over_cost(const Record& record, const Contest& contest, int64_t removed, const std::string& metric) {
  LineChart chart;
  const std::string fraction = percent(static_cast<double>(removed) / static_cast<double>(contest.heads_total));
  chart.title = fmt::format("{} removed: {} by what choosing the heads cost", fraction, metric);
  chart.y_label = what_is_measured(record, contest.curves.front().points.front(), metric);
  chart.x_label = "passes over a batch, a backward one counted as two: powers of ten";
  set_limits(chart, metric_info(record, metric));
  for (const NamedCurve& curve : contest.named()) {
    const PointGroup* const point = curve.at(removed);
    const double passes = point == nullptr ? 0 : cost_of(*point).forward_equivalents();
    if (!(passes > 0)) continue;  // an order without passes has no place on this axis
    LineSeries line = line_of(curve.name, {point, 1}, metric);
    for (LinePoint& one : line.points) {
      one.x = std::log10(passes);
      one.title += fmt::format(", {:.0f} passes", passes);
    }
    chart.series.push_back(std::move(line));
  }
  set_level(chart, base_metric(record, metric));
  return draw_line_chart(chart);
}

/// Of the shared numbers of heads those next to a quarter, a half and three quarters.
std::vector<int64_t> shown_numbers(const Contest& contest) {
  std::vector<int64_t> shown;
  for (const double fraction : {0.25, 0.5, 0.75}) {
    const double wanted = fraction * static_cast<double>(contest.heads_total);
    const auto nearest = std::min_element(contest.removed.begin(), contest.removed.end(), [&](int64_t a, int64_t b) {
      return std::abs(static_cast<double>(a) - wanted) < std::abs(static_cast<double>(b) - wanted);
    });
    if (nearest != contest.removed.end() && (shown.empty() || shown.back() != *nearest)) shown.push_back(*nearest);
  }
  return shown;
}

}  // namespace

std::vector<Figure> contest_figures(const Record& record) {
  const std::string metric = headline_metric(record);
  Figure figure;
  for (const Contest& contest : contests(record)) {
    figure.panels.push_back(all_curves(record, contest, metric));
    for (const int64_t removed : shown_numbers(contest))
      figure.panels.push_back(over_cost(record, contest, removed, metric));
  }
  if (figure.panels.empty()) return {};
  figure.file = fmt::format("contest-{}.svg", metric);
  figure.alt = fmt::format("{} of all sweeps over the part of heads removed, and over what it cost", metric);
  figure.caption =
      "Upright lines at the points are 95 % intervals, cut where the metric ends. Masks that were learnt or listed "
      "stand "
      "where their number of heads is.";
  return {figure};
}

}  // namespace headprune
