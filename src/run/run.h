// One run from a decoded experiment to its results: the order of the stages, and what is left behind when one of them
// ends early.
#pragma once

#include <string>

#include "config/load.h"
#include "run/workspace.h"

namespace headprune {

struct RunOutcome {
  ExitCode code = ExitCode::ok;
  std::filesystem::path folder;
};

/// Runs or continues the experiment. Signals, errors and full disks leave the folder in a state from which the same
/// call continues; they are thrown on after status.json, the journal and the views say so.
RunOutcome run_experiment(const Loaded<Experiment>& loaded, const RunOptions& options);

}  // namespace headprune
