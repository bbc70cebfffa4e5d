// results.json and metrics.json (docs/formats.md section 9): the whole run in the shape of lm-evaluation-harness, and
// one flat object of metric keys for `dvc metrics diff`.
#pragma once

#include <string>
#include <vector>

#include "record/journal.h"
#include "report/numbers/agreement_rows.h"

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

}  // namespace headprune
