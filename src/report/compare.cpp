#include "report/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/groups.h"
#include "report/sample_values.h"
#include "stats/agreement.h"
#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {
namespace {

std::optional<Difference> over_seeds(const ComparedRun& a, const ComparedRun& b, const KeyedMetric& x,
                                     const KeyedMetric& y) {
  const bool paired =
      x.seeds.size() > 1 && x.seeds.size() == y.seeds.size() && recorded_seeds(a.record) == recorded_seeds(b.record);
  if (!paired) return std::nullopt;
  std::vector<double> differences;
  for (size_t i = 0; i < x.seeds.size(); ++i) differences.push_back(y.seeds[i] - x.seeds[i]);
  const Estimate estimate = t_interval(differences);
  if (!std::isfinite(estimate.value)) return std::nullopt;
  Difference change{estimate.value, estimate.stderr_, estimate.ci95, std::nullopt, "seeds"};
  if (smallest_sign_flip_p(static_cast<int64_t>(differences.size())) < kAlpha)
    change.p = sign_flip_p(differences, Random(0, "compare"));
  return change;
}

std::optional<Difference> over_examples(const ComparedRun& a, const ComparedRun& b, const std::string& metric,
                                        const std::pair<const PointResult*, const PointResult*>& points) {
  if (points.first == nullptr || points.second == nullptr) return std::nullopt;
  const auto x = sample_values(a.path, a.record, *points.first, metric);
  const auto y = sample_values(b.path, b.record, *points.second, metric);
  if (!x || !y || x->ids != y->ids) return std::nullopt;
  if (metric == "accuracy") {
    int64_t gained = 0, lost = 0;
    for (size_t i = 0; i < x->values.size(); ++i) {
      gained += y->values[i] > x->values[i] ? 1 : 0;
      lost += y->values[i] < x->values[i] ? 1 : 0;
    }
    Difference change = paired_accuracy_difference(gained, lost, static_cast<int64_t>(x->values.size()));
    return change;
  }
  std::vector<double> differences;
  for (size_t i = 0; i < x->values.size(); ++i) differences.push_back(y->values[i] - x->values[i]);
  const Estimate estimate = mean_estimate(differences);
  return Difference{estimate.value, estimate.stderr_, estimate.ci95, std::nullopt, "examples"};
}

Difference unpaired(const KeyedMetric& x, const KeyedMetric& y) {
  Difference change;
  change.delta = y.value - x.value;
  if (!x.stderr_ || !y.stderr_ || !std::isfinite(change.delta)) return change;
  const double error = std::hypot(*x.stderr_, *y.stderr_);
  change.stderr_ = error;
  change.ci95 = {change.delta - kNormal95 * error, change.delta + kNormal95 * error};
  change.test = "unpaired";
  return change;
}

std::optional<Difference> change_of(const ComparedRun& a, const ComparedRun& b, const CompareRow& row, size_t run) {
  if (!row.values[0] || !row.values[run]) return std::nullopt;
  const KeyedMetric &x = *row.values[0], &y = *row.values[run];
  if (x.range != y.range) return std::nullopt;  // areas over different fractions have no difference
  if (const auto change = over_seeds(a, b, x, y)) return change;
  if (const auto change = over_examples(a, b, metric_of_key(row.key), {x.point, y.point})) return change;
  return unpaired(x, y);
}

/// Scores of one method and seed in both runs, head by head.
std::pair<std::vector<double>, std::vector<double>> paired_scores(const RecordedScore& a, const RecordedScore& b) {
  std::map<HeadId, double> first;
  for (const auto& [id, block] : a.blocks) {
    for (size_t i = 0; i < block.heads.size(); ++i) first[{id, block.heads[i]}] = block.scores[i];
  }
  std::pair<std::vector<double>, std::vector<double>> scores;
  for (const auto& [id, block] : b.blocks) {
    for (size_t i = 0; i < block.heads.size(); ++i) {
      const auto found = first.find({id, block.heads[i]});
      if (found == first.end()) continue;
      scores.first.push_back(found->second);
      scores.second.push_back(block.scores[i]);
    }
  }
  return scores;
}

/// Adds to a mean over `count` values.
void add_to_mean(std::optional<double>& mean, const std::optional<double>& value, int64_t count) {
  if (!value) return;
  mean = mean ? *mean + (*value - *mean) / static_cast<double>(count) : *value;
}

std::vector<RankingAgreement> rankings_of(const ComparedRun& a, const ComparedRun& b, size_t run) {
  std::map<std::string, RankingAgreement> methods;
  for (const auto& [key, score] : a.record.scores) {
    if (!key.sweep.empty() || key.draw != 0 || is_random(a.record, key.method)) continue;
    const auto other = b.record.scores.find(key);
    if (other == b.record.scores.end()) continue;
    const auto [x, y] = paired_scores(score, other->second);
    if (x.size() < 2) continue;
    RankingAgreement& ranking = methods[key.method];
    ranking.method = key.method;
    ranking.run = run;
    ++ranking.seeds;
    ranking.heads = static_cast<int64_t>(x.size());
    ranking.k = (ranking.heads + 1) / 2;
    add_to_mean(ranking.spearman, spearman(x, y), ranking.seeds);
    add_to_mean(ranking.kendall, kendall_tau_b(x, y), ranking.seeds);
    add_to_mean(ranking.topk, topk_jaccard(x, y, ranking.k), ranking.seeds);
  }
  std::vector<RankingAgreement> list;
  for (auto& [method, ranking] : methods) list.push_back(std::move(ranking));
  return list;
}

}  // namespace

bool CompareRow::differs() const {
  for (const std::optional<KeyedMetric>& value : values) {
    // NaN differs from everything, itself included.
    if (!value || !values.front() || value->value != values.front()->value) return true;
  }
  return false;
}

RunComparison compare_runs(const std::vector<std::string>& folders) {
  RunComparison comparison;
  for (const std::string& folder : folders) {
    ComparedRun run;
    run.path = folder;
    run.record = read_record(folder);
    run.context = read_run_context(folder);
    run.agreement = agreement_rows(run.record, /*with_p=*/false);
    comparison.runs.push_back(std::move(run));
  }
  std::set<std::string> keys;
  for (ComparedRun& run : comparison.runs) {
    run.metrics = keyed_metrics(run.record, run.agreement);  // points into the record, which stays where it is now
    for (const auto& [key, metric] : run.metrics) keys.insert(key);
  }
  for (const std::string& key : keys) {
    CompareRow row;
    row.key = key;
    for (const ComparedRun& run : comparison.runs) {
      const auto found = run.metrics.find(key);
      row.values.push_back(found == run.metrics.end() ? std::nullopt : std::optional(found->second));
    }
    row.changes.resize(comparison.runs.size());
    for (size_t i = 1; i < comparison.runs.size(); ++i)
      row.changes[i] = change_of(comparison.runs[0], comparison.runs[i], row, i);
    comparison.rows.push_back(std::move(row));
  }
  for (size_t i = 1; i < comparison.runs.size(); ++i) {
    comparison.differences.push_back(diff_runs(folders[0], folders[i]));
    for (RankingAgreement& ranking : rankings_of(comparison.runs[0], comparison.runs[i], i))
      comparison.rankings.push_back(std::move(ranking));
  }
  return comparison;
}

}  // namespace headprune
