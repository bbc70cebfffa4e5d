// One thing to be timed: prepared once, then run whenever scripts/bench asks.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "config/load.h"
#include "run/experiment.h"

namespace headprune::bench {

/// Runs once and gives what came out, for the other side to be compared with.
using Work = std::function<Json()>;

/// `settings`: what the command line gives beyond the experiment, {"masks": "FILE"}.
struct WorkInput {
  const Loaded<Experiment>& loaded;
  const Json& settings;
};

/// By name, as on the command line.
std::map<std::string, std::function<Work(const WorkInput&)>> all_works();

}  // namespace headprune::bench
