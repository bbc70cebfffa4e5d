// One sweep at several training steps, as Michel et al. 2019 draw it (section 6, figure 4).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "report/draw/curve_lines.h"
#include "report/page/figures.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

/// The end of training stands after every step.
int64_t place_of(const CurveGroup& curve) { return curve.at_step.value_or(std::numeric_limits<int64_t>::max()); }

/// Curves that differ in the training step only: a family has at least two, in the order of the steps.
using Family = std::vector<const CurveGroup*>;

std::vector<Family> families(const Record& record, const std::vector<CurveGroup>& curves) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Family> found;
  for (const CurveGroup& curve : curves)
    if (!is_random(record, curve.method)) found[{curve.method, curve.rule, curve.scope, curve.kind}].push_back(&curve);
  std::vector<Family> all;
  for (auto& [key, family] : found) {
    std::stable_sort(family.begin(), family.end(),
                     [](const CurveGroup* a, const CurveGroup* b) { return place_of(*a) < place_of(*b); });
    const auto same = [](const CurveGroup* a, const CurveGroup* b) { return a->at_step == b->at_step; };
    family.erase(std::unique(family.begin(), family.end(), same), family.end());
    if (family.size() > 1) all.push_back(std::move(family));
  }
  return all;
}

std::string step_label(const CurveGroup& curve) {
  return curve.at_step ? fmt::format("step {}", *curve.at_step) : "end of training";
}

LineChart start_chart(const Family& family, const std::string& y_label) {
  const CurveGroup& any = *family.front();
  LineChart chart;
  chart.title = fmt::format("{}, {} heads, by {}, at several training steps", any.rule, any.kind, any.method);
  chart.y_label = y_label;
  chart.x_label = "heads removed (%)";
  chart.x_range = {0, 100};
  return chart;
}

Svg values_panel(const Record& record, const Family& family, const std::string& metric) {
  LineChart chart = start_chart(family, what_is_measured(record, family.front()->points.front(), metric));
  set_limits(chart, metric_info(record, metric));
  for (const CurveGroup* curve : family) chart.series.push_back(line_of(step_label(*curve), curve->points, metric));
  return draw_line_chart(chart);
}

/// Each curve against what its own model is worth unpruned; nothing where that is no positive number.
std::optional<Svg> shares_panel(const Record& record, const Family& family, const std::string& metric) {
  LineChart chart = start_chart(family, fmt::format("{}, % of the unpruned model's at the same step", metric));
  chart.y_least = 0;
  chart.level = 100;
  chart.level_label = "unpruned";
  for (const CurveGroup* curve : family) {
    const std::optional<MetricSummary> unpruned = base_metric(record, metric, curve->at_step);
    if (!unpruned || !(unpruned->estimate.value > 0)) return std::nullopt;
    LineSeries line = line_of(step_label(*curve), curve->points, metric);
    for (LinePoint& point : line.points) {
      point.y *= 100 / unpruned->estimate.value;
      point.low.reset();  // an interval of the value is none of the share
      point.high.reset();
      point.title = fmt::format("{}: {:.3g} % of {}", line.label, point.y, value_text(unpruned->estimate.value));
    }
    chart.series.push_back(std::move(line));
  }
  return draw_line_chart(chart);
}

}  // namespace

std::vector<Figure> step_figures(const Record& record) {
  const std::string metric = headline_metric(record);
  const std::vector<CurveGroup> curves = curve_groups(record);
  Figure figure;
  for (const Family& family : families(record, curves)) {
    figure.panels.push_back(values_panel(record, family, metric));
    if (!higher_is_better(record, metric)) continue;
    if (auto shares = shares_panel(record, family, metric)) figure.panels.push_back(std::move(*shares));
  }
  if (figure.panels.empty()) return {};
  figure.file = fmt::format("steps-{}.svg", metric);
  figure.alt = fmt::format("{} over the part of heads removed, one line a training step", metric);
  figure.caption = "The same sweep of the model as it was after each training step, scored anew at each.";
  return {figure};
}

}  // namespace headprune
