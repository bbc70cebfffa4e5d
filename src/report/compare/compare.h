// Runs side by side: what differs in their numbers, their circumstances and their rankings. Never a gate.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/runs.h"
#include "report/numbers/keyed_metrics.h"
#include "report/page/document.h"

namespace headprune {

struct ComparedRun {
  std::string path;  // as given
  RunContext context;
  Record record;
  std::vector<AgreementRow> agreement;
  std::map<std::string, KeyedMetric> metrics;
};

/// One metric key over all runs.
struct CompareRow {
  std::string key;
  std::vector<std::optional<KeyedMetric>> values;  // one a run
  /// From the first run. Paired over the seeds that both runs have and over the examples of one report split (test
  /// "crossed_t"; of one model each "mcnemar" or "paired_t"); with other seeds, two or more on both sides, "welch";
  /// else delta alone.
  std::vector<std::optional<Difference>> changes;
  std::vector<std::optional<double>> q;  // Benjamini-Hochberg over the rows of a run

  bool differs() const;
};

/// How far two runs agree on the order of heads under one method. Only of runs whose models began as the same weights:
/// elsewhere a head's id means nothing to the other.
struct RankingAgreement {
  std::string method;
  size_t run = 0;                                 // against the first
  std::optional<double> spearman, kendall, topk;  // mean over the seeds that both have
  /// Spearman's rho: the lower of how far either run's ranking agrees with itself on two halves of its examples, mean
  /// over the same seeds. Absent where a seed lacks it.
  std::optional<double> lower_own;
  int64_t k = 0, heads = 0, seeds = 0;
};

struct RunComparison {
  std::vector<ComparedRun> runs;
  std::vector<CompareRow> rows;             // by key
  std::vector<RunDifferences> differences;  // of each later run from the first
  std::vector<bool> started_alike;          // of each later run with the first: the same seed began as the same weights
  std::vector<bool> heads_shared;           // and the seeds are the same: a head's id means the same in both
  std::vector<RankingAgreement> rankings;
};

/// At least two folders. Throws as read_record(), read_run_context() and diff_runs().
RunComparison compare_runs(const std::vector<std::string>& folders);

/// For --md and the terminal. Without `all`: keys that differ or that not every run has.
Document comparison_document(const RunComparison& comparison, bool all);
Json comparison_json(const RunComparison& comparison);

}  // namespace headprune
