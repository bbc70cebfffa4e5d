#include "report/tables/method_pairs.h"

#include <fmt/format.h>

#include <set>

#include "report/numbers/keyed_metrics.h"
#include "report/numbers/repetitions.h"
#include "report/tables/notes.h"
#include "stats/power.h"
#include "stats/tests.h"

namespace headprune {
namespace {

/// A point's values over its seeds; nothing where values by example are missing.
std::optional<Repetitions> repetitions_of(const Record& record, const PointGroup& point, const std::string& metric) {
  std::vector<Measurement> members;
  for (const PointResult* member : point.members) {
    std::optional<Measurement> value = measured_value(record, *member, metric);
    if (!value || value->examples.empty()) return std::nullopt;
    members.push_back(std::move(*value));
  }
  return distinct(record, std::move(members));
}

std::optional<Difference> difference_of(const Repetitions& a, const Repetitions& b, const MetricInfo& metric) {
  if (a.repeated.size() == 1 && b.repeated.size() == 1 && a.repeated.front().seed != b.repeated.front().seed)
    return std::nullopt;  // two models: their methods are not what they differ in
  if (a.repeated.size() == 1 && b.repeated.size() == 1)
    return difference_of_models(b.repeated.front(), a.repeated.front(), metric);
  const std::optional<Repetitions> paired = paired_difference(a, b);
  if (!paired) return std::nullopt;
  Difference difference = crossed_difference(paired->crossed(), metric);
  difference.p.reset();
  difference.test.clear();
  if (smallest_sign_flip_p(std::ssize(paired->seeds)) < kAlpha) {
    difference.p = sign_flip_p(paired->seeds, Random(0, "methods"));
    difference.test = "sign_flip";
  }
  return difference;
}

}  // namespace

std::vector<NamedCurve> methods_of(const Sweep& sweep) {
  std::vector<NamedCurve> curves;
  for (const CurveGroup& curve : sweep.curves) curves.push_back({curve.name(), &curve});
  return curves;
}

std::vector<MethodPair> method_pairs(const Record& record, const std::vector<NamedCurve>& curves,
                                     const std::string& metric) {
  std::vector<MethodPair> pairs;
  for (size_t a = 0; a < curves.size(); ++a) {
    for (size_t b = a + 1; b < curves.size(); ++b) {
      if (curves[a].curve->seed != curves[b].curve->seed) continue;  // the same file's order, of two models
      for (const PointGroup& point : curves[a].curve->points) {
        const PointResult& first = point.first();
        const int64_t removed = first.spec.heads_removed;
        const PointGroup* other = curves[b].at(removed);
        if (other == nullptr || removed == 0 || removed == first.heads_total) continue;
        const auto one = repetitions_of(record, point, metric), two = repetitions_of(record, *other, metric);
        if (!one || !two) continue;
        const auto difference = difference_of(*one, *two, metric_info(record, metric));
        if (!difference) continue;
        pairs.push_back({.method_a = curves[a].name,
                         .method_b = curves[b].name,
                         .heads_removed = removed,
                         .heads_total = first.heads_total,
                         .metric = metric,
                         .difference = *difference,
                         .q = {},
                         .n = std::ssize(one->repeated.front().examples),
                         .seeds = std::ssize(one->repeated)});
      }
    }
  }
  TestFamily tests;
  for (MethodPair& pair : pairs)
    if (pair.difference.p) tests.add(*pair.difference.p, pair.q);
  tests.correct();
  return pairs;
}

TextRows method_pair_rows(const std::vector<MethodPair>& pairs) {
  std::map<int64_t, size_t> columns;
  for (const MethodPair& pair : pairs) columns[pair.heads_removed];
  TextRows rows = {{"methods"}};
  for (auto& [removed, column] : columns) {
    column = rows[0].size();
    rows[0].push_back(fraction_text(removed, pairs.front().heads_total) + " ");
  }
  for (const MethodPair& pair : pairs) {
    const std::string name = pair.method_a + " - " + pair.method_b;
    if (rows.back()[0] != name) {
      rows.emplace_back(rows[0].size(), "- ");
      rows.back()[0] = name;
    }
    rows.back()[columns.at(pair.heads_removed)] =
        change_text(pair.difference.delta) + (pair.q && *pair.q < kAlpha ? "*" : " ");
  }
  return rows;
}

std::string method_pair_note(const Record& record, const std::vector<MethodPair>& pairs) {
  std::vector<Difference> tested;
  int64_t starred = 0, seeds = 1;
  for (const MethodPair& pair : pairs) {
    seeds = std::max(seeds, pair.seeds);
    if (!pair.q) continue;
    tested.push_back(pair.difference);
    starred += *pair.q < kAlpha ? 1 : 0;
  }
  if (tested.empty() && seeds == 1) return "No test was possible, so nothing is starred.";
  if (tested.empty())
    return fmt::format(
        "No test possible between methods over {}: the smallest p it can give is {:.3g}. Nothing is "
        "starred.",
        count_text(seeds, "seed"), smallest_sign_flip_p(seeds));
  std::string text = fmt::format("* {} of {}: q < 0.05 ({}, Benjamini-Hochberg over the table).", starred,
                                 tested.size(), test_name(tested.front().test));
  if (seeds > 1) return text;
  const std::optional<Detectable> found =
      detectable(tested, pairs.front().n, kAlpha, record.facts ? record.facts->bootstrap_iters : 0);
  if (found && !found->possible())
    text += fmt::format(" With {} {}.", count_text(pairs.front().n, "example"),
                        impossible_note(*found, tested.front().test, pairs.front().n));
  else if (found && found->change)
    text += fmt::format(
        " With {} a difference that stood out alone needed {}{} for a star.", count_text(pairs.front().n, "example"),
        tested.front().test == "mcnemar" ? "" : "at a typical point about ", value_text(*found->change));
  return text;
}

namespace {

std::set<std::string> metrics_of(const std::vector<NamedCurve>& curves) {
  std::set<std::string> metrics;
  for (const NamedCurve& curve : curves)
    for (const MetricSummary& metric : curve.curve->points.front().metrics) metrics.insert(metric.name);
  return metrics;
}

}  // namespace

std::string methods_csv(const Record& record) {
  std::vector<CsvRow> rows;
  const auto add = [&](const CsvRow& what, const std::vector<NamedCurve>& curves) {
    for (const std::string& metric : metrics_of(curves))
      for (const MethodPair& pair : method_pairs(record, curves, metric)) {
        const Difference& difference = pair.difference;
        CsvRow row = what;
        const CsvRow cells = {pair.metric,
                              pair.method_a,
                              pair.method_b,
                              pair.heads_removed,
                              pair.heads_total,
                              difference.delta,
                              difference.stderr_,
                              difference.ci95 ? Cell((*difference.ci95)[0]) : Cell(),
                              difference.ci95 ? Cell((*difference.ci95)[1]) : Cell(),
                              difference.p,
                              pair.q,
                              difference.test,
                              pair.n,
                              pair.seeds};
        row.insert(row.end(), cells.begin(), cells.end());
        rows.push_back(std::move(row));
      }
  };
  for (const Sweep& sweep : sweeps_of(record)) {
    const CurveGroup& any = sweep.any();
    add({any.sweep, any.rule, any.scope, any.kind, any.at_step}, methods_of(sweep));
  }
  for (const Contest& contest : contests(record)) add({Cell(), Cell(), Cell(), contest.kind, Cell()}, contest.named());
  return csv_text(
      {"sweep", "rule", "scope", "kind", "at_step", "metric", "method_a", "method_b", "heads_removed", "heads_total",
       "delta", "delta_stderr", "delta_ci_low", "delta_ci_high", "p", "q", "test", "n", "seeds"},
      std::move(rows));
}

}  // namespace headprune
