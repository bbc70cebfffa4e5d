// Figures of what heads do: the columns of analyses, and the roles that survive a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/draw/head_map.h"
#include "report/draw/stacked_bars.h"
#include "report/numbers/groups.h"
#include "report/numbers/roles.h"
#include "report/page/figures.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

HeatMap column_map(const Record& record, const RecordedAnalysis& analysis, const std::string& name) {
  HeatMap map = head_map(record);
  int64_t examples = 0;
  for (const auto& [id, block] : analysis.blocks) {
    const AnalysisColumn* const column = block.column(name);
    if (column == nullptr) continue;
    examples = std::max(examples, column->examples);
    for (size_t h = 0; h < block.heads.size(); ++h) {
      const HeadId head{id, block.heads[h]};
      HeatCell* const cell = cell_of(map, head);
      if (cell == nullptr) continue;
      cell->value = column->values[h];
      cell->text = short_number(column->values[h]);
      cell->title = fmt::format("{}: {} {:.4g}", to_string(head), name, column->values[h]);
      if (column->baseline) cell->title += fmt::format(", uniform attention {:.4g}", *column->baseline);
      for (const RoleFact& role : analysis.done->roles)
        if (role.head == head && role.column == name) cell->marked = true;
    }
  }
  map.title = fmt::format("{}: {}", analysis.done->analysis, name);
  map.subtitle = examples > 0 ? "from n = " + count_text(examples, "text") : "from the weights";
  map.low_label = "less";
  map.high_label = "more";
  for (const auto& row : map.cells)
    for (const HeatCell& cell : row)
      if (cell.marked) map.mark_label = "has the role";
  return map;
}

std::vector<std::string> column_names(const RecordedAnalysis& analysis) {
  std::vector<std::string> names;
  for (const auto& [id, block] : analysis.blocks)
    for (const AnalysisColumn& column : block.columns)
      if (std::find(names.begin(), names.end(), column.name) == names.end()) names.push_back(column.name);
  return names;
}

/// The role under which a head is counted in a picture in which each stands once: of its own, the one that fewest heads
/// have, or common ones would hide the others.
std::map<HeadId, std::string> one_role_each(const Record& record, int64_t seed) {
  std::map<std::string, std::set<HeadId>> heads;
  for (const RoleRow& row : role_rows(record))
    if (row.seed == seed) heads[row.fact.role].insert(row.fact.head);
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto& [role, of_role] : heads) order.emplace_back(of_role.size(), role);
  std::sort(order.begin(), order.end());
  std::map<HeadId, std::string> roles;
  for (const auto& [count, role] : order)
    for (const HeadId& head : heads[role]) roles.emplace(head, role);
  return roles;
}

StackedBars survival_chart(const Record& record, const std::vector<const PointResult*>& points,
                           const std::map<HeadId, std::string>& roles) {
  StackedBars chart;
  for (const auto& [head, role] : roles)
    if (std::find(chart.parts.begin(), chart.parts.end(), role) == chart.parts.end()) chart.parts.push_back(role);
  std::sort(chart.parts.begin(), chart.parts.end());
  chart.parts.emplace_back("no role found");
  for (const PointResult* point : points) {
    StackedBar bar{.label = fmt::format("{:.0f} %", 100 * point->fraction),
                   .parts = std::vector<double>(chart.parts.size(), 0.0)};
    for (const HeadId& head : all_heads(record.facts->blocks)) {
      if (point->removed.contains(head)) continue;
      const auto role = roles.find(head);
      const std::string& name = role == roles.end() ? chart.parts.back() : role->second;
      ++bar.parts[static_cast<size_t>(std::find(chart.parts.begin(), chart.parts.end(), name) - chart.parts.begin())];
    }
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

}  // namespace

std::vector<Figure> analysis_figures(const Record& record) {
  std::vector<Figure> figures;
  std::set<std::string> drawn;
  for (const RecordedAnalysis* analysis : shown_analyses(record)) {
    const std::string& label = analysis->done->analysis;
    if (!record.facts || !drawn.insert(label).second) continue;
    Figure figure{fmt::format("analysis-{}.svg", label), {}, fmt::format("{}, layers by heads", label), ""};
    for (const std::string& name : column_names(*analysis))
      figure.panels.push_back(draw_heat_map(column_map(record, *analysis, name)));
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> role_figures(const Record& record) {
  const std::vector<const RecordedAnalysis*> analyses = shown_analyses(record);
  if (!record.facts || analyses.empty()) return {};
  const int64_t seed = analyses.front()->done->seed;
  const std::map<HeadId, std::string> roles = one_role_each(record, seed);
  if (roles.empty()) return {};
  std::map<std::pair<std::string, std::string>, std::vector<const PointResult*>> curves;  // sweep, method
  for (const RoleSurvival& row : role_survival(record)) {
    const PointSpec& spec = row.point->spec;
    if (spec.seed != seed || is_random(record, spec.method)) continue;
    std::vector<const PointResult*>& points = curves[{spec.sweep, spec.method}];
    if (points.empty() || points.back() != row.point) points.push_back(row.point);
  }
  Figure figure{"roles.svg", {}, "heads that each point of a sweep keeps, by role", ""};
  for (const auto& [key, points] : curves) {
    StackedBars chart = survival_chart(record, points, roles);
    chart.title = fmt::format("Heads left by role: {}, {}", key.first, key.second);
    chart.subtitle =
        fmt::format("roles of the intact model{}; each head under the rarest of its roles",
                    analyses.size() > 1 && analyses.back()->done->seed != seed ? fmt::format(", seed {}", seed) : "");
    chart.y_label = "heads left";
    chart.x_label = "heads removed";
    figure.panels.push_back(draw_stacked_bars(chart));
  }
  if (figure.panels.empty()) return {};
  return {figure};
}

}  // namespace headprune
