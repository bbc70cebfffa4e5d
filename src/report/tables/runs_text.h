// Text of `headprune runs ls|info|diff`.
#pragma once

#include <string>
#include <vector>

#include "record/runs.h"

namespace headprune {

/// One line a run: name, state, stage, points done of all, when it was created, experiment.
std::string runs_table(const std::vector<RunSummary>& runs, size_t width);
/// A run's state and context. `problems` are those of verify_run(); nothing without --verify.
std::string run_info_text(const RunSummary& run, const RunContext& context,
                          const std::optional<std::vector<std::string>>& problems);
/// What differs, section by section; one sentence when nothing does.
std::string run_diff_text(const RunDifferences& differences);

}  // namespace headprune
