// Everything that can be known to be wrong before a run: one function for `run`, its --dry-run and `validate`.
#pragma once

#include <filesystem>
#include <vector>

#include "core/torch.h"
#include "run/plan.h"

namespace headprune {

/// What a run starts from.
struct CheckedExperiment {
  torch::Device device = torch::kCPU;
  std::vector<InputFile> inputs;
  Dataset dataset;
  ExperimentPlan plan;
};

/// Sets the process up for the experiment, reads its data and holds model, data, disk (of `folder`) and memory against
/// each other. Of a loaded model it reads config.json, the tokenizer and the headers of the weights. Throws Error where
/// a run would stop.
CheckedExperiment check_experiment(const Experiment& experiment, const std::filesystem::path& folder);

/// A sentence for an exception that says that memory ran out: which example is the longest, and what to set.
std::string out_of_memory_text(const Experiment& experiment, const Dataset& dataset, const std::string& stage);

}  // namespace headprune
