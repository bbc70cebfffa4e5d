// Fills in what views need to know beyond numbers.
#pragma once

#include "record/run_facts.h"
#include "run/experiment.h"

namespace headprune {

RunFacts run_facts(const Experiment& experiment, const Dataset& dataset);

}  // namespace headprune
