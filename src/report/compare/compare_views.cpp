// A comparison as a document and as JSON.
#include <cmath>
#include <set>

#include "core/text.h"
#include "record/events.h"
#include "report/compare/compare.h"
#include "report/numbers/groups.h"
#include "report/tables/notes.h"

namespace headprune {
namespace {

/// A, B, ... Z, then numbers.
std::string run_letter(size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : std::to_string(index + 1);
}

std::string compared_value(const std::optional<KeyedMetric>& metric) {
  if (!metric) return "-";
  return std::isfinite(metric->value) ? fmt::format("{:.6g}", metric->value) : value_text(metric->value);
}

std::string change_with_interval(const std::optional<Difference>& change, const std::optional<double>& q) {
  if (!change || !std::isfinite(change->delta)) return "-";
  std::string text = change->delta == 0 ? "0" : fmt::format("{:+.3g}", change->delta);
  if (change->ci95) text += fmt::format(" [{:+.3g}, {:+.3g}]", (*change->ci95)[0], (*change->ci95)[1]);
  return text + (q && *q < kAlpha ? "*" : "");
}

DocBlock runs_block(const RunComparison& comparison) {
  TextRows rows = {{"", "run", "state", "experiment", "seeds", "headprune"}};
  for (size_t i = 0; i < comparison.runs.size(); ++i) {
    const ComparedRun& run = comparison.runs[i];
    std::vector<std::string> seeds;
    for (const int64_t seed : recorded_seeds(run.record)) seeds.push_back(std::to_string(seed));
    rows.push_back({run_letter(i), run.path, run.record.state(), run.record.experiment_id.substr(0, 12),
                    join(seeds, ", "), member_text(run.record.tool, "git")});
  }
  return table_block(std::move(rows), 6);
}

void add_differences(std::vector<DocBlock>& blocks, const RunComparison& comparison) {
  blocks.push_back(heading_block("What differs between the runs"));
  for (size_t i = 0; i < comparison.differences.size(); ++i) {
    const RunDifferences& one = comparison.differences[i];
    std::vector<std::string> items;
    const auto add = [&](const char* title, const std::vector<std::string>& lines) {
      for (const std::string& line : lines) items.push_back(fmt::format("{}: {}", title, line));
    };
    add("configuration", one.config);
    add("inputs", one.inputs);
    add("fingerprint", one.fingerprint);
    add("tool", one.tool);
    blocks.push_back(paragraph_block(fmt::format(
        "A -> {}: {}{}", run_letter(i + 1),
        one.same_experiment ? "one experiment" : "two experiments, so numbers may differ for more reasons than one",
        items.empty() ? "; no difference in configuration, inputs, fingerprint and tool." : ".")));
    if (!items.empty()) blocks.push_back(list_block(items));
  }
}

void add_metrics(std::vector<DocBlock>& blocks, const RunComparison& comparison, bool all) {
  blocks.push_back(heading_block("Metrics"));
  TextRows rows = {{"key"}};
  const size_t runs = comparison.runs.size();
  for (size_t i = 0; i < runs; ++i) rows[0].push_back(run_letter(i));
  for (size_t i = 1; i < runs; ++i) rows[0].push_back(runs == 2 ? "change" : fmt::format("A -> {}", run_letter(i)));
  size_t equal = 0;
  std::set<std::string> tests, ranges;
  bool no_interval = false;
  for (const CompareRow& row : comparison.rows) {
    const bool differs = row.differs();
    equal += differs ? 0 : 1;
    if (!all && !differs) continue;
    std::vector<std::string> cells = {row.key};
    for (const auto& value : row.values) {
      cells.push_back(compared_value(value));
      if (value && !value->range.empty()) ranges.insert(value->range);
    }
    for (size_t i = 1; i < runs; ++i) {
      cells.push_back(change_with_interval(row.changes[i], row.q[i]));
      if (!row.changes[i]) continue;
      tests.insert(row.changes[i]->test);
      no_interval = no_interval || !row.changes[i]->ci95;
    }
    rows.push_back(std::move(cells));
  }
  if (rows.size() > 1) blocks.push_back(table_block(std::move(rows)));
  std::vector<std::string> notes = {fmt::format("{} of {} equal in every run{}.", equal,
                                                count_text(static_cast<int64_t>(comparison.rows.size()), "metric"),
                                                all || equal == 0 ? "" : " and not shown (--all shows them)")};
  if (tests.contains("crossed_t"))
    notes.push_back(
        "[ ] 95 % interval of the difference paired over the seeds (or orders) that both runs have, and over "
        "examples where both kept their values.");
  if (tests.contains("mcnemar") || tests.contains("paired_t"))
    notes.push_back(
        "[ ] 95 % interval of the difference paired over the same examples, of one model each: it says "
        "nothing of another training run.");
  if (tests.contains("welch"))
    notes.push_back("[ ] 95 % interval between other seeds (Welch's t): of seeds alone, on these very examples.");
  if (no_interval)
    notes.push_back(
        "Rows without an interval: nothing pairs up, and there are not two seeds on both sides; or the runs measured "
        "other examples; or the change is the same on all of them, which says nothing of others.");
  if (ranges.size() > 1)
    notes.push_back(
        fmt::format("auc: some curves are not complete. The areas cover the fractions {}, and only those over the same "
                    "fractions have a difference.",
                    fmt::join(ranges, ", ")));
  std::vector<std::string> names;
  int64_t tested = 0, starred = 0;
  for (const CompareRow& row : comparison.rows)
    for (size_t i = 1; i < runs && (all || row.differs()); ++i)
      if (row.q[i]) ++tested, starred += *row.q[i] < kAlpha ? 1 : 0;
  tests.erase("");
  for (const std::string& test : tests) names.push_back(test_name(test));
  notes.push_back(tested == 0 ? "No test was possible, so nothing is starred."
                              : fmt::format("* {} of {}: q < 0.05 ({}, Benjamini-Hochberg over the rows{}).", starred,
                                            tested, join(names, ", "), runs > 2 ? " of each run" : ""));
  for (size_t i = 0; i < comparison.heads_shared.size(); ++i) {
    if (!comparison.started_alike[i])
      notes.push_back(
          fmt::format("A and {} did not begin as the same weights, so head ids of one mean nothing to the "
                      "other: single heads and rankings are not compared.",
                      run_letter(i + 1)));
    else if (!comparison.heads_shared[i])
      notes.push_back(
          fmt::format("A and {} have other seeds, which are other models: single heads are not compared, and rankings "
                      "only over the seeds that both have.",
                      run_letter(i + 1)));
  }
  blocks.push_back(list_block(notes));
}

void add_rankings(std::vector<DocBlock>& blocks, const RunComparison& comparison) {
  if (comparison.rankings.empty()) return;
  blocks.push_back(heading_block("Rank agreement of the scores"));
  TextRows rows = {{"method", "runs", "Spearman's rho", "lower own rho", "Kendall's tau-b",
                    "same half of the heads (Jaccard)", "heads", "seeds"}};
  const auto cell = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "undefined";
  };
  for (const RankingAgreement& ranking : comparison.rankings)
    rows.push_back({ranking.method, "A, " + run_letter(ranking.run), cell(ranking.spearman),
                    ranking.lower_own ? cell(ranking.lower_own) : "-", cell(ranking.kendall), cell(ranking.topk),
                    std::to_string(ranking.heads), std::to_string(ranking.seeds)});
  blocks.push_back(table_block(std::move(rows), 2));
  blocks.push_back(
      paragraph_block("Means over the seeds that both runs have. Lower own rho: the lower of how far either run's "
                      "ranking agrees with itself on two halves of its examples: where that is low, a low agreement "
                      "says little. Rankings by the same examples share their noise and can agree better than that."));
}

Json change_json_of(const std::optional<Difference>& change, const std::optional<double>& q) {
  if (!change) return nullptr;
  Json json;
  json["delta"] = measurement_json(change->delta);
  json["ci95"] = change->ci95 && std::isfinite((*change->ci95)[0]) && std::isfinite((*change->ci95)[1])
                     ? Json(*change->ci95)
                     : Json(nullptr);
  json["p"] = change->p ? Json(*change->p) : Json(nullptr);
  json["q"] = q ? Json(*q) : Json(nullptr);
  json["test"] = change->test;
  return json;
}

}  // namespace

Document comparison_document(const RunComparison& comparison, bool all) {
  Document document;
  document.title = "Comparison";
  document.blocks = {runs_block(comparison)};
  add_differences(document.blocks, comparison);
  add_metrics(document.blocks, comparison, all);
  add_rankings(document.blocks, comparison);
  return document;
}

Json comparison_json(const RunComparison& comparison) {
  Json json;
  json["schema_version"] = 1;
  json["runs"] = Json::array();
  for (const ComparedRun& run : comparison.runs)
    json["runs"].push_back({{"path", run.path},
                            {"name", run.context.name},
                            {"experiment_id", run.record.experiment_id},
                            {"state", run.record.state()},
                            {"seeds", recorded_seeds(run.record)}});
  json["differences"] = Json::array();
  for (const RunDifferences& one : comparison.differences)
    json["differences"].push_back({{"same_experiment", one.same_experiment},
                                   {"config", one.config},
                                   {"inputs", one.inputs},
                                   {"fingerprint", one.fingerprint},
                                   {"tool", one.tool}});
  json["metrics"] = Json::array();
  for (const CompareRow& row : comparison.rows) {
    Json values = Json::array(), changes = Json::array();
    for (const auto& value : row.values) values.push_back(value ? measurement_json(value->value) : Json(nullptr));
    for (size_t i = 1; i < row.changes.size(); ++i) changes.push_back(change_json_of(row.changes[i], row.q[i]));
    json["metrics"].push_back({{"key", row.key}, {"values", values}, {"changes", changes}});
  }
  json["rankings"] = Json::array();
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  for (const RankingAgreement& one : comparison.rankings)
    json["rankings"].push_back({{"method", one.method},
                                {"run", one.run},
                                {"spearman", number(one.spearman)},
                                {"lower_own", number(one.lower_own)},
                                {"kendall_tau_b", number(one.kendall)},
                                {"topk_jaccard", number(one.topk)},
                                {"k", one.k},
                                {"heads", one.heads},
                                {"seeds", one.seeds}});
  return json;
}

}  // namespace headprune
