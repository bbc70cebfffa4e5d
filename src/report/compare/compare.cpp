#include "report/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/numbers/groups.h"
#include "report/numbers/repetitions.h"
#include "stats/agreement.h"
#include "stats/tests.h"

namespace headprune {
namespace {

/// Whether both runs measured the same examples.
bool same_examples(const Record& a, const Record& b) {
  if (!a.facts || !b.facts) return false;
  const auto hash = [](const RunFacts& facts) {
    for (const SplitFact& split : facts.splits)
      if (split.role == "report") return split.sha256;
    return std::string();
  };
  return !hash(*a.facts).empty() && hash(*a.facts) == hash(*b.facts);
}

/// Whether a difference in configuration leaves the weights that training starts from, and what it sees, as they are.
bool keeps_training_data(const std::string& line) {
  if (!line.starts_with("data.")) return true;
  for (const char* harmless : {"data.path:", "data.limit.score:", "data.limit.select:", "data.limit.report:",
                               "data.splits.score:", "data.splits.select:", "data.splits.report:"})
    if (line.starts_with(harmless)) return true;  // files are compared by what they hold, among the inputs
  return false;
}

/// Whether, seed by seed, the same id is the same head in both: their models began as the same weights.
bool same_start(const ComparedRun& a, const ComparedRun& b, const RunDifferences& differences) {
  if (!a.record.facts || !b.record.facts || a.record.facts->blocks != b.record.facts->blocks) return false;
  const bool trained = a.record.facts->seeds_differ_in == SeedsDifferIn::training;
  const auto begins = [](const std::string& line, const char* prefix) { return line.rfind(prefix, 0) == 0; };
  for (const std::string& line : differences.config)
    if ((begins(line, "model.") && !begins(line, "model.path")) || (trained && !keeps_training_data(line)))
      return false;
  for (const std::string& line : differences.inputs)
    if (begins(line, "model") || (trained && begins(line, "data"))) return false;
  return true;
}

/// The same for what a run shows of all its seeds together.
bool same_heads(const ComparedRun& a, const ComparedRun& b) {
  return a.record.facts->seeds_differ_in != SeedsDifferIn::training ||
         recorded_seeds(a.record) == recorded_seeds(b.record);
}

/// How far a method's ranking agrees with itself on two halves of the examples; nothing where that was not measured.
std::optional<double> own_agreement(const ComparedRun& run, const ScoreKey& key) {
  for (const AgreementRow& row : run.agreement)
    if (row.comparison == "halves" && row.kind == "all" && row.statistic == "spearman" && row.method_a == key.method &&
        row.seed_a == key.seed)
      return row.value;
  return std::nullopt;
}

std::vector<double> values_of(const Repetitions& repetitions) {
  std::vector<double> values;
  for (const Measurement& one : repetitions.repeated) values.push_back(one.value);
  return values;
}

std::optional<Difference> change_of(const ComparedRun& a, const ComparedRun& b, const CompareRow& row, size_t run) {
  if (!row.values[0] || !row.values[run]) return std::nullopt;
  const KeyedMetric &x = *row.values[0], &y = *row.values[run];
  if (x.range != y.range) return std::nullopt;  // areas over different fractions have no difference
  Difference change;
  change.delta = y.value - x.value;
  if (!std::isfinite(change.delta)) return change;
  MetricInfo metric = metric_info(a.record, metric_of_key(row.key));
  if (x.members.empty() || y.members.empty())  // agreement, surgery: numbers of seeds alone, of no test set
    return x.seeds.size() > 1 && y.seeds.size() > 1 ? welch(x.seeds, y.seeds) : change;
  const Repetitions first = distinct(a.record, x.members), second = distinct(b.record, y.members);
  // Other test sets differ too, and so do other orders, and neither seeds nor one order say by how much.
  if (!same_examples(a.record, b.record)) return change;
  if (x.one_order || y.one_order) return change;
  if (row.key.starts_with("auc/")) metric.proportion = false;  // a mean of proportions is none of zeros and ones
  const Measurement &one = first.repeated.front(), &other = second.repeated.front();
  if (first.repeated.size() == 1 && second.repeated.size() == 1) return difference_of_models(one, other, metric);
  if (const auto paired = paired_difference(second, first)) return crossed_difference(paired->crossed(), metric);
  if (first.over != "seeds" || second.over != "seeds") return change;  // orders of two models say nothing of others
  change = welch(values_of(first), values_of(second));
  const double width = metric.range.high - metric.range.low;
  if (change.ci95) change.ci95 = {std::max((*change.ci95)[0], -width), std::min((*change.ci95)[1], width)};
  return change;
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
  std::map<std::string, int64_t> with_own;
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
    const std::optional<double> own = own_agreement(a, key), others = own_agreement(b, key);
    if (own && others) add_to_mean(ranking.lower_own, std::min(*own, *others), ++with_own[key.method]);
  }
  std::vector<RankingAgreement> list;
  for (auto& [method, ranking] : methods) {
    if (with_own[method] != ranking.seeds) ranking.lower_own.reset();  // of other seeds than the agreement
    list.push_back(std::move(ranking));
  }
  return list;
}

/// Over the rows that a test was possible for.
void set_q(std::vector<CompareRow>& rows, size_t run) {
  TestFamily tests;
  for (CompareRow& row : rows) {
    if (!row.changes[run] || !row.changes[run]->p) continue;
    // The unpruned model stands in every curve, and equal masks in several: one comparison, counted once.
    const std::string &first = row.values[0]->of, &second = row.values[run]->of;
    const bool of_masks = !first.empty() && !second.empty();
    tests.add(*row.changes[run]->p, row.q[run],
              of_masks ? fmt::format("{}: {} and {}", metric_of_key(row.key), first, second) : "");
  }
  tests.correct();
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
  std::vector<bool> heads_shared = {true}, started_alike = {true};
  for (size_t i = 1; i < comparison.runs.size(); ++i) {
    comparison.differences.push_back(diff_runs(folders[0], folders[i]));
    started_alike.push_back(same_start(comparison.runs[0], comparison.runs[i], comparison.differences.back()));
    heads_shared.push_back(started_alike[i] && same_heads(comparison.runs[0], comparison.runs[i]));
  }
  for (const std::string& key : keys) {
    CompareRow row;
    row.key = key;
    for (const ComparedRun& run : comparison.runs) {
      const auto found = run.metrics.find(key);
      row.values.push_back(found == run.metrics.end() ? std::nullopt : std::optional(found->second));
    }
    row.changes.resize(comparison.runs.size());
    row.q.resize(comparison.runs.size());
    for (size_t i = 1; i < comparison.runs.size(); ++i)
      if (heads_shared[i] || !row.values[i] || !row.values[i]->of_head)
        row.changes[i] = change_of(comparison.runs[0], comparison.runs[i], row, i);
    comparison.rows.push_back(std::move(row));
  }
  for (size_t i = 1; i < comparison.runs.size(); ++i) {
    set_q(comparison.rows, i);
    comparison.heads_shared.push_back(heads_shared[i]);
    comparison.started_alike.push_back(started_alike[i]);
    if (!started_alike[i]) continue;
    for (RankingAgreement& ranking : rankings_of(comparison.runs[0], comparison.runs[i], i))
      comparison.rankings.push_back(std::move(ranking));
  }
  return comparison;
}

}  // namespace headprune
