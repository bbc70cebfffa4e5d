#include "report/numbers/roles.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "report/numbers/repetitions.h"
#include "report/text/csv.h"

namespace headprune {
namespace {

Cell low_of(const Estimate& estimate) { return estimate.ci95 ? Cell((*estimate.ci95)[0]) : Cell(); }
Cell high_of(const Estimate& estimate) { return estimate.ci95 ? Cell((*estimate.ci95)[1]) : Cell(); }
Cell count_cell(int64_t count) { return count > 0 ? Cell(count) : Cell(); }

/// Whether a sweep of these kinds ("all", or kinds joined by '+') may remove heads of a block.
bool may_go(const BlockId& block, const std::string& kinds) {
  return kinds.empty() || kinds == "all" ||
         ("+" + kinds + "+").find(std::string("+") + to_string(block.kind) + "+") != std::string::npos;
}

/// The points of sweeps over the final weights, whose heads were analysed, in the order of their curves.
std::vector<const PointResult*> sweep_points(const Record& record) {
  std::vector<const PointResult*> points;
  for (const auto& [id, point] : record.points)
    if (!point.spec.sweep.empty() && !point.spec.method.empty() && !point.spec.at_step) points.push_back(&point);
  const auto key = [](const PointResult* point) {
    const PointSpec& spec = point->spec;
    return std::make_tuple(spec.seed, spec.sweep, spec.method, spec.draw.value_or(0), spec.heads_removed, point->point);
  };
  std::sort(points.begin(), points.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  return points;
}

}  // namespace

std::vector<const RecordedAnalysis*> shown_analyses(const Record& record) {
  std::vector<const RecordedAnalysis*> shown;
  for (const auto& [key, analysis] : record.analyses) {
    if (!analysis.done) continue;
    if (!seeds_differ(record) && key.seed != record.analyses.begin()->first.seed) continue;  // the same model again
    shown.push_back(&analysis);
  }
  return shown;
}

std::vector<std::string> head_names(const RecordedAnalysis& analysis) {
  std::vector<std::string> names;
  for (const auto& [id, block] : analysis.blocks)
    for (const int64_t head : block.heads) names.push_back(to_string(HeadId{id, head}));
  return names;
}

std::vector<RoleRow> role_rows(const Record& record) {
  std::vector<RoleRow> rows;
  for (const RecordedAnalysis* analysis : shown_analyses(record))
    for (const RoleFact& fact : analysis->done->roles) {
      const auto block = analysis->blocks.find(fact.head.block);
      if (block == analysis->blocks.end()) continue;
      const std::vector<int64_t>& heads = block->second.heads;
      const AnalysisColumn* const column = block->second.column(fact.column);
      const auto at = std::find(heads.begin(), heads.end(), fact.head.head);
      if (!fact.evidence && (column == nullptr || at == heads.end())) continue;
      rows.push_back(
          {.seed = analysis->done->seed,
           .analysis = analysis->done->analysis,
           .fact = fact,
           .share = fact.evidence ? *fact.evidence : column->share(static_cast<size_t>(at - heads.begin()))});
    }
  const auto key = [](const RoleRow& row) { return std::tie(row.seed, row.analysis, row.fact.role, row.fact.head); };
  std::stable_sort(rows.begin(), rows.end(), [&](const RoleRow& a, const RoleRow& b) { return key(a) < key(b); });
  return rows;
}

std::vector<RoleSurvival> role_survival(const Record& record) {
  std::map<std::tuple<int64_t, std::string, std::string>, std::set<HeadId>> roles;  // seed, analysis, role
  const bool shared = !seeds_differ(record);
  for (const RoleRow& row : role_rows(record))
    roles[{shared ? 0 : row.seed, row.analysis, row.fact.role}].insert(row.fact.head);
  std::vector<RoleSurvival> rows;
  for (const PointResult* point : sweep_points(record))
    for (const auto& [key, heads] : roles) {
      if (std::get<0>(key) != (shared ? 0 : point->spec.seed) || point->heads_total == 0) continue;
      const int64_t kept =
          std::count_if(heads.begin(), heads.end(), [&](const HeadId& head) { return !point->removed.contains(head); });
      const double left = 1 - static_cast<double>(point->spec.heads_removed) / static_cast<double>(point->heads_total);
      const auto eligible = std::count_if(heads.begin(), heads.end(), [&](const HeadId& head) {
        return may_go(head.block, point->spec.kind) && !point->fixed.contains(head);
      });
      rows.push_back(
          {.point = point,
           .analysis = std::get<1>(key),
           .role = std::get<2>(key),
           .kept = kept,
           .of = std::ssize(heads),
           .expected = left * static_cast<double>(eligible) + static_cast<double>(std::ssize(heads) - eligible)});
    }
  return rows;
}

std::string roles_csv(const Record& record) {
  std::vector<CsvRow> rows;
  for (const RoleRow& row : role_rows(record)) {
    const HeadId& head = row.fact.head;
    const Estimate estimate = row.share.estimate();
    rows.push_back({row.seed, row.analysis, to_string(head.block.kind), head.block.layer, head.head, row.fact.role,
                    row.fact.detail, row.fact.column, estimate.value, estimate.stderr_, low_of(estimate),
                    high_of(estimate), row.share.baseline, count_cell(row.share.n), count_cell(row.share.examples)});
  }
  return csv_text({"seed", "analysis", "kind", "layer", "head", "role", "detail", "column", "value", "stderr", "ci_low",
                   "ci_high", "baseline", "n", "examples"},
                  std::move(rows));
}

std::string analysis_csv(const Record& record, const std::string& analysis) {
  std::vector<CsvRow> rows;
  for (const auto& [key, recorded] : record.analyses) {
    if (key.analysis != analysis || !recorded.done) continue;
    for (const auto& [id, block] : recorded.blocks)
      for (const AnalysisColumn& column : block.columns)
        for (size_t h = 0; h < block.heads.size(); ++h)
          rows.push_back({key.seed, to_string(id.kind), id.layer, block.heads[h], column.name, column.values[h],
                          column.stderrs.empty() ? Cell() : Cell(column.stderrs[h]), column.baseline,
                          count_cell(column.n), count_cell(column.examples)});
  }
  return csv_text({"seed", "kind", "layer", "head", "column", "value", "stderr", "baseline", "n", "examples"},
                  std::move(rows));
}

std::vector<std::string> analysis_labels(const Record& record) {
  std::set<std::string> labels;
  for (const auto& [key, analysis] : record.analyses)
    if (analysis.done) labels.insert(key.analysis);
  return {labels.begin(), labels.end()};
}

namespace {

Cell cell_of_json(const Json& value) {
  if (value.is_number_integer()) return Cell(value.get<int64_t>());
  if (value.is_number()) return Cell(value.get<double>());
  return value.is_string() ? Cell(value.get<std::string>()) : Cell();
}

}  // namespace

std::string analysis_table_csv(const Record& record, const std::string& analysis, const std::string& table) {
  std::vector<std::string> header = {"seed"};
  std::vector<CsvRow> rows;
  for (const RecordedAnalysis* recorded : shown_analyses(record)) {
    if (recorded->done->analysis != analysis) continue;
    for (const AnalysisTable& one : recorded->done->tables) {
      if (one.name != table) continue;
      if (header.size() == 1) header.insert(header.end(), one.header.begin(), one.header.end());
      for (const std::vector<Json>& cells : one.rows) {
        CsvRow row = {recorded->done->seed};
        for (const Json& cell : cells) row.push_back(cell_of_json(cell));
        rows.push_back(std::move(row));
      }
    }
  }
  return csv_text(header, std::move(rows));
}

std::string role_survival_csv(const Record& record) {
  std::vector<CsvRow> rows;
  for (const RoleSurvival& row : role_survival(record)) {
    const PointSpec& spec = row.point->spec;
    rows.push_back({spec.seed, spec.sweep, spec.method, spec.draw, spec.heads_removed, row.point->fraction,
                    row.analysis, row.role, row.kept, row.of, row.expected});
  }
  return csv_text(
      {"seed", "sweep", "method", "draw", "heads_removed", "fraction", "analysis", "role", "kept", "of", "expected"},
      std::move(rows));
}

}  // namespace headprune
