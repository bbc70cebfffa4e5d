// results.json and metrics.json (docs/formats.md section 9): the whole run in the shape of lm-evaluation-harness, and
// one flat object of metric keys for `dvc metrics diff`.
#pragma once

#include <string>
#include <vector>

#include "record/journal.h"
#include "report/agreement_rows.h"

namespace headprune {

/// What a run left so far; `state` says how far it got. Equal experiments with equal fingerprints give equal files but
/// for the times that without_times() drops.
/// Several seeds: `results` and every metric hold the mean with its interval over both sources, and `seeds` the values.
/// A point that stands for several seeds or draws lists them under `members`, each with its own mask.
Json results_json(const Record& record, const std::vector<AgreementRow>& agreement);

/// `results` without its wall-clock values: date, start_time, end_time, total_evaluation_time_seconds, pruning.timing
/// and the seconds of pruning.cost.
Json without_times(Json results);

/// Sorted metric keys to finite numbers; means over draws and seeds. No timings.
Json metrics_json(const Record& record, const std::vector<AgreementRow>& agreement);

/// A metric key (docs/formats.md section 1): the parts joined by '/', empty parts left out, characters outside
/// [A-Za-z0-9_.-] replaced by '_'.
std::string metric_key(const std::vector<std::string>& parts);
/// heads_removed / heads_total rounded to 6 decimals, trailing zeros cut: "0", "0.25", "1".
std::string fraction_text(int64_t heads_removed, int64_t heads_total);

/// Agreement rows that differ in seeds and draws only, as one.
struct AgreementGroup {
  AgreementRow first;
  std::vector<double> values;  // those that are defined
  double mean = 0;             // of `values`; 0 without any
  int64_t rows = 0;            // also those that are not defined
};
std::vector<AgreementGroup> agreement_groups(const std::vector<AgreementRow>& rows);

}  // namespace headprune
