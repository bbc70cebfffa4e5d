// What a metric costs: points over the size that the model has there, so that rules whose points mean different
// things (heads removed, groups removed, keys and values shared) stand side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/draw/curve_lines.h"
#include "report/numbers/sweeps.h"
#include "report/page/figures.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

struct SizeCost {
  const char* name;
  std::optional<double> (*of)(const PointResult& point);
};

constexpr SizeCost kSizeCosts[] = {
    {"parameters", [](const PointResult& point) { return std::optional<double>(point.params); }},
    {"attention FLOPs a token",
     [](const PointResult& point) { return std::optional<double>(point.attention_flops_per_token); }},
    {"key/value cache a token",
     [](const PointResult& point) {
       return point.kv_cache_bytes_per_token ? std::optional<double>(*point.kv_cache_bytes_per_token) : std::nullopt;
     }},
};

/// Points under one name.
struct Line {
  std::string label;
  const std::vector<PointGroup>* points;
};

/// Mean over the members, whose heads may be others; nothing where one does not say.
std::optional<double> mean_cost(const SizeCost& cost, const PointGroup& group) {
  double sum = 0;
  for (const PointResult* member : group.members) {
    const std::optional<double> one = cost.of(*member);
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum / static_cast<double>(group.members.size());
}

/// The points that no other beats in both: as small or smaller, and better. By size.
LineSeries frontier(const std::vector<LineSeries>& lines, bool higher) {
  std::vector<LinePoint> all;
  for (const LineSeries& line : lines) all.insert(all.end(), line.points.begin(), line.points.end());
  std::stable_sort(all.begin(), all.end(), [&](const LinePoint& a, const LinePoint& b) {
    return a.x != b.x ? a.x < b.x : higher ? a.y > b.y : a.y < b.y;
  });
  LineSeries front{"no smaller point is as good", {}, false};
  for (LinePoint& point : all) {
    if (!std::isfinite(point.y)) continue;
    const bool better =
        front.points.empty() || (higher ? point.y > front.points.back().y : point.y < front.points.back().y);
    if (!better) continue;
    point.low.reset();
    point.high.reset();
    front.points.push_back(std::move(point));
  }
  return front;
}

LineSeries line_over(const SizeCost& cost, double whole, const Line& line, const std::string& metric) {
  LineSeries series = line_of(line.label, *line.points, metric);
  size_t at = 0;
  for (const PointGroup& group : *line.points) {
    if (group.metric(metric) == nullptr) continue;
    LinePoint& point = series.points[at++];
    point.x = 100 * mean_cost(cost, group).value_or(NAN) / whole;
    point.title += fmt::format(", {:.3g} % of the {}", point.x, cost.name);
  }
  std::erase_if(series.points, [](const LinePoint& point) { return !std::isfinite(point.x); });
  std::stable_sort(series.points.begin(), series.points.end(),
                   [](const LinePoint& a, const LinePoint& b) { return a.x < b.x; });
  return series;
}

/// Nothing where the record does not say what the unpruned model costs.
std::optional<Svg> panel(const Record& record, const SizeCost& cost, const std::vector<Line>& lines,
                         const std::string& metric) {
  const std::optional<PointGroup> base = base_group(record);
  const std::optional<double> whole = base ? mean_cost(cost, *base) : std::nullopt;
  if (!whole || !(*whole > 0)) return std::nullopt;
  LineChart chart;
  chart.title = fmt::format("{} by {}", metric, cost.name);
  chart.y_label = what_is_measured(record, lines.front().points->front(), metric);
  chart.x_label = fmt::format("{}, % of the unpruned model's", cost.name);
  set_limits(chart, metric_info(record, metric));
  for (const Line& line : lines) chart.series.push_back(line_over(cost, *whole, line, metric));
  chart.series.push_back(frontier(chart.series, higher_is_better(record, metric)));
  set_level(chart, base_metric(record, metric));
  return draw_line_chart(chart);
}

}  // namespace

std::vector<Figure> tradeoff_figures(const Record& record) {
  const std::string metric = headline_metric(record);
  const std::vector<MaskList> lists = mask_lists(record);
  std::vector<MaskList> models;
  for (const MaskList& list : lists)
    if (list.of_models()) models.push_back(list);
  if (models.empty()) return {};  // over one size, curves say it
  const std::vector<CurveGroup> curves = curve_groups(record);
  std::vector<Line> lines;
  for (const CurveGroup& curve : curves)
    if (!is_random(record, curve.method) && !curve.at_step)
      lines.push_back({curve.name() == curve.sweep ? curve.sweep : fmt::format("{}, {}", curve.sweep, curve.name()),
                       &curve.points});
  for (const MaskList& list : models) lines.push_back({list.sweep, &list.points});
  Figure figure;
  for (const SizeCost& cost : kSizeCosts)
    if (auto drawn = panel(record, cost, lines, metric)) figure.panels.push_back(std::move(*drawn));
  if (figure.panels.empty()) return {};
  figure.file = fmt::format("tradeoff-{}.svg", metric);
  figure.alt = fmt::format("{} over what the model costs, one line a sweep and method", metric);
  figure.caption =
      "Without random orders, masks from files, earlier training steps and intact models that were trained on. Upright "
      "lines at the points are 95 % intervals, cut where the metric ends. The last line joins the points that "
      "no smaller point is as good as: which they are was seen on the same examples, so the next examples may choose "
      "others.";
  return {figure};
}

}  // namespace headprune
