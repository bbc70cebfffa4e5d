// `baseline`: update and show read stored runs; calibrate makes some.
#pragma once

#include <functional>

#include "cli/cli.h"

namespace headprune {

struct CalibrateArguments {
  ExperimentArguments experiment;
  int64_t runs = 5;
  std::string out;
};
using Calibrate = std::function<ExitCode(const CommandLine&, const CalibrateArguments&)>;

/// Repeats a run and prints tolerances.
ExitCode calibrate(const CommandLine& line, const CalibrateArguments& arguments);

void add_baseline(CommandLine& line, Calibrate calibrate_action);

}  // namespace headprune
