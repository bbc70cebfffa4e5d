// curve.csv and sensitivity.csv: one row a point and metric.
#include "report/numbers/groups.h"
#include "report/tables/tables.h"
#include "report/text/csv.h"

namespace headprune {
namespace {

struct Measured {
  Cell base, delta, delta_stderr, delta_low, delta_high, p;
};

/// How a point stands to the unpruned model of its seed.
Measured against_base(const Record& record, const PointResult& point, const MetricResult& metric) {
  Measured cells;
  const PointResult* base = record.base(point.spec);
  const MetricResult* base_metric = base == nullptr ? nullptr : base->metric(metric.name);
  if (base_metric != nullptr) cells.base = base_metric->estimate.value;
  if (!metric.difference) return cells;
  const Difference& difference = *metric.difference;
  cells.delta = difference.delta;
  cells.delta_stderr = difference.stderr_;
  if (difference.ci95) {
    cells.delta_low = (*difference.ci95)[0];
    cells.delta_high = (*difference.ci95)[1];
  }
  cells.p = difference.p;
  return cells;
}

Cell bound(const Estimate& estimate, size_t side) { return estimate.ci95 ? Cell((*estimate.ci95)[side]) : Cell(); }

/// A method's scores always have a draw; a point without a method has none.
Cell draw_cell(const PointSpec& spec) { return spec.method.empty() ? Cell() : Cell(spec.draw.value_or(0)); }

}  // namespace

std::string curve_csv(const Record& record) {
  const auto q = point_q(record);
  std::vector<CsvRow> rows;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.sweep.empty()) continue;
    for (const MetricResult& metric : point.metrics) {
      const Estimate& estimate = metric.estimate;
      const Measured base = against_base(record, point, metric);
      const auto own_q = q.find({id, metric.name});
      rows.push_back({spec.seed,
                      spec.method,
                      draw_cell(spec),
                      spec.sweep,
                      spec.rule,
                      point.scope,
                      spec.kind,
                      spec.at_step,
                      spec.control_steps ? std::string("control") : spec.name,
                      point.step,
                      point.fraction,
                      spec.heads_removed,
                      point.heads_total,
                      point.split,
                      metric.name,
                      estimate.value,
                      estimate.stderr_,
                      bound(estimate, 0),
                      bound(estimate, 1),
                      estimate.n,
                      base.base,
                      base.delta,
                      base.delta_stderr,
                      base.delta_low,
                      base.delta_high,
                      base.p,
                      own_q == q.end() ? Cell() : Cell(own_q->second),
                      point.params,
                      point.attention_flops_per_token,
                      point.kv_cache_bytes_per_token,
                      point.forward,
                      point.backward,
                      id});
    }
  }
  return csv_text({"seed",
                   "method",
                   "draw",
                   "sweep",
                   "rule",
                   "scope",
                   "kind",
                   "at_step",
                   "name",
                   "step",
                   "fraction",
                   "heads_removed",
                   "heads_total",
                   "split",
                   "metric",
                   "value",
                   "stderr",
                   "ci_low",
                   "ci_high",
                   "n",
                   "base",
                   "delta",
                   "delta_stderr",
                   "delta_ci_low",
                   "delta_ci_high",
                   "p",
                   "q",
                   "params",
                   "attention_flops_per_token",
                   "kv_cache_bytes_per_token",
                   "forward",
                   "backward",
                   "point"},
                  std::move(rows));
}

std::string sensitivity_csv(const Record& record) {
  const auto q = point_q(record);
  std::vector<CsvRow> rows;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.table.empty()) continue;
    for (const MetricResult& metric : point.metrics) {
      const Estimate& estimate = metric.estimate;
      const Measured base = against_base(record, point, metric);
      const auto own_q = q.find({id, metric.name});
      rows.push_back({spec.seed,
                      spec.table,
                      spec.method,
                      draw_cell(spec),
                      spec.kind,
                      spec.layer,
                      spec.head ? spec.head : point.kept_head,
                      spec.group ? spec.group : point.kept_group,
                      point.fraction,
                      spec.heads_removed,
                      point.heads_total,
                      point.split,
                      metric.name,
                      estimate.value,
                      estimate.stderr_,
                      bound(estimate, 0),
                      bound(estimate, 1),
                      estimate.n,
                      base.base,
                      base.delta,
                      base.delta_stderr,
                      base.delta_low,
                      base.delta_high,
                      base.p,
                      own_q == q.end() ? Cell() : Cell(own_q->second),
                      id});
    }
  }
  return csv_text({"seed",   "table", "method",       "draw",          "kind",          "layer",
                   "head",   "group", "fraction",     "heads_removed", "heads_total",   "split",
                   "metric", "value", "stderr",       "ci_low",        "ci_high",       "n",
                   "base",   "delta", "delta_stderr", "delta_ci_low",  "delta_ci_high", "p",
                   "q",      "point"},
                  std::move(rows));
}

}  // namespace headprune
