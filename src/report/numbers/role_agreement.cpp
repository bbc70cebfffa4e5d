#include "report/numbers/role_agreement.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "report/numbers/groups.h"
#include "report/numbers/roles.h"
#include "report/text/csv.h"
#include "stats/agreement.h"
#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {
namespace {

using OfHeads = std::map<HeadId, double>;

OfHeads column_of(const RecordedAnalysis& analysis, const std::string& name) {
  OfHeads values;
  for (const auto& [id, block] : analysis.blocks)
    if (const AnalysisColumn* const column = block.column(name))
      for (size_t h = 0; h < block.heads.size(); ++h) values[{id, block.heads[h]}] = column->values[h];
  return values;
}

/// What a seed's model says of the importance of its heads, by label.
std::map<std::string, OfHeads> importances(const Record& record, int64_t seed) {
  std::map<std::string, OfHeads> all;
  for (const auto& [key, score] : record.scores) {
    if (key.seed != seed || !key.sweep.empty() || key.draw != 0 || !score.done || is_random(record, key.method))
      continue;
    for (const auto& [id, block] : score.blocks)
      for (size_t h = 0; h < block.heads.size(); ++h) all[key.method][{id, block.heads[h]}] = block.scores[h];
  }
  const std::string metric = headline_metric(record);
  const double sign = higher_is_better(record, metric) ? -1 : 1;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.seed != seed || spec.table != "leave_one_out" || !spec.head || spec.group) continue;
    const MetricResult* const result = point.metric(metric);
    if (result == nullptr || !result->difference) continue;
    all["leave_one_out"][{{parse_kind(spec.kind), *spec.layer}, *spec.head}] = sign * result->difference->delta;
  }
  return all;
}

void add_interval(RoleAgreement& row) {
  if (!row.spearman || row.n < 4 || std::abs(*row.spearman) >= 1) return;
  const double rho = *row.spearman;
  const double half = kNormal95 * std::sqrt((1 + rho * rho / 2) / static_cast<double>(row.n - 3));
  row.ci_low = std::tanh(std::atanh(rho) - half);
  row.ci_high = std::tanh(std::atanh(rho) + half);
}

void add_q(std::vector<RoleAgreement>& rows, int64_t seed) {
  std::vector<double> p;
  for (const RoleAgreement& row : rows)
    if (row.seed == seed && row.p) p.push_back(*row.p);
  const std::vector<double> q = benjamini_hochberg(p);
  size_t next = 0;
  for (RoleAgreement& row : rows)
    if (row.seed == seed && row.p) row.q = q[next++];
}

}  // namespace

std::vector<RoleAgreement> role_agreement(const Record& record) {
  std::vector<RoleAgreement> rows;
  const std::vector<const RecordedAnalysis*> analyses = shown_analyses(record);
  if (analyses.empty()) return rows;
  ChanceOrders chance(static_cast<uint64_t>(analyses.front()->done->seed), "role_agreement");
  for (const RecordedAnalysis* analysis : analyses) {
    const AnalysisDone& done = *analysis->done;
    const std::map<std::string, OfHeads> all = importances(record, done.seed);
    for (const RoleStrength& strength : done.strengths) {
      const OfHeads measured = column_of(*analysis, strength.column);
      for (const auto& [against, values] : all) {
        std::vector<double> a, b;
        for (const auto& [head, value] : measured) {
          const auto other = values.find(head);
          if (other == values.end() || !std::isfinite(value) || !std::isfinite(other->second)) continue;
          a.push_back(value);
          b.push_back(other->second);
        }
        const Agreement found = agreement({AgreementStatistic::spearman}, a, b, &chance);
        rows.push_back({.seed = done.seed,
                        .analysis = done.analysis,
                        .role = strength.role,
                        .column = strength.column,
                        .against = against,
                        .spearman = found.value,
                        .ci_low = {},
                        .ci_high = {},
                        .p = found.p,
                        .q = {},
                        .n = found.n});
        add_interval(rows.back());
      }
    }
  }
  for (size_t i = 0; i < rows.size(); ++i)
    if (i == 0 || rows[i].seed != rows[i - 1].seed) add_q(rows, rows[i].seed);
  return rows;
}

std::string role_agreement_csv(const std::vector<RoleAgreement>& all) {
  std::vector<CsvRow> rows;
  for (const RoleAgreement& row : all)
    rows.push_back({row.seed, row.analysis, row.role, row.column, row.against, row.spearman, row.ci_low, row.ci_high,
                    row.p, row.q, row.n});
  return csv_text({"seed", "analysis", "role", "column", "against", "spearman", "ci_low", "ci_high", "p", "q", "n"},
                  std::move(rows));
}

}  // namespace headprune
