// Figures of the sensitivity tables that are curves: layer_curve, kind_curve.
#include <fmt/format.h>

#include <tuple>

#include "report/draw/curve_lines.h"
#include "report/page/figures.h"

namespace headprune {
namespace {

/// Lines that share a panel: all kinds, or the blocks of one kind.
struct Panel {
  std::string table, method, kind;  // kind: empty in kind_curve
  LineChart chart = {};
  bool holds(const PointSpec& spec) const {
    return table == spec.table && method == spec.method && kind == (spec.layer ? spec.kind : "");
  }
};

Panel start_panel(const Record& record, const PointGroup& point, const std::string& metric) {
  const PointSpec& spec = point.first().spec;
  Panel panel{spec.table, spec.method, spec.layer ? spec.kind : ""};
  const std::string unit = spec.layer ? spec.kind + " block" : "attention kind";
  panel.chart.title = fmt::format("Part of one {} removed, by {}", unit, spec.method);
  panel.chart.y_label = what_is_measured(record, point, metric);
  panel.chart.x_label = fmt::format("heads of the {} removed (%)", spec.layer ? "block" : "kind");
  panel.chart.x_range = {0, 100};
  set_limits(panel.chart, metric_info(record, metric));
  set_level(panel.chart, base_metric(record, metric));
  return panel;
}

/// How many groups from `first` on belong to its curve.
size_t curve_length(std::span<const PointGroup> groups) {
  const PointSpec& spec = groups.front().first().spec;
  size_t length = 1;
  while (length < groups.size()) {
    const PointSpec& next = groups[length].first().spec;
    if (std::tie(next.table, next.method, next.kind, next.layer) !=
        std::tie(spec.table, spec.method, spec.kind, spec.layer))
      break;
    ++length;
  }
  return length;
}

std::vector<Panel> panels_of(const Record& record, std::span<const PointGroup> groups, const std::string& metric) {
  std::vector<Panel> panels;
  while (!groups.empty()) {
    const std::span<const PointGroup> curve = groups.first(curve_length(groups));
    groups = groups.subspan(curve.size());
    const PointSpec& spec = curve.front().first().spec;
    if (spec.method.empty()) continue;  // a table without an order of heads
    if (panels.empty() || !panels.back().holds(spec)) panels.push_back(start_panel(record, curve.front(), metric));
    panels.back().chart.series.push_back(line_of(sensitivity_unit(spec), curve, metric));
  }
  return panels;
}

}  // namespace

std::vector<Figure> table_curve_figures(const Record& record) {
  const std::string metric = headline_metric(record);
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  std::vector<Figure> figures;
  std::string table;
  for (const Panel& panel : panels_of(record, groups, metric)) {
    if (panel.table != table) {
      table = panel.table;
      figures.push_back(
          {fmt::format("{}-{}.svg", table, metric),
           {},
           fmt::format("{} over the part of one {} removed", metric, panel.kind.empty() ? "attention kind" : "block"),
           "Upright lines at the points are 95 % intervals, cut where the metric ends."});
    }
    figures.back().panels.push_back(draw_line_chart(panel.chart));
  }
  return figures;
}

}  // namespace headprune
