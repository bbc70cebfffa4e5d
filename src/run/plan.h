// What an experiment will do, known before it does it: for `validate`, --dry-run, status.json and the disk check.
#pragma once

#include <string>
#include <vector>

#include "run/experiment.h"

namespace headprune {

/// How texts are put together for analyses, which keep the attention weights of one block of a batch at a time.
inline constexpr BatchPlan kAnalysisPlan{.tokens = 2048};
const Split& analysed_split(const Experiment& experiment, const Dataset& dataset);

struct ExperimentPlan {
  int64_t heads = 0;
  int64_t params = 0;
  int64_t points = 0;         // all seeds, the base included
  int64_t random_points = 0;  // of these, those of random orders: what the control costs
  // Passes over one batch, all seeds.
  int64_t train_steps = 0;
  int64_t forward = 0, backward = 0;
  uint64_t disk_bytes = 0;
  std::vector<std::string> messages;  // merged fractions and the like
  std::vector<std::string> data;      // data_lines()

  /// For people, a few lines.
  std::string text() const;
  Json to_json() const;
};

/// `dataset` is the experiment's. Throws Error(usage) when options cannot be met.
ExperimentPlan plan_experiment(const Experiment& experiment, const Dataset& dataset);

/// Optimizer steps of the experiment's own training; lays out a whole epoch.
int64_t training_steps(const Experiment& experiment, const Dataset& dataset, int64_t seed);

/// What the splits look like and which label is which output of a loaded classifier, one line each.
std::vector<std::string> data_lines(const Dataset& dataset);

/// Error(io) when the file system of `folder` has less room than the plan needs.
void check_disk(const ExperimentPlan& plan, const std::filesystem::path& folder);

/// What a model must fit; seed and device are left to the caller.
ModelInput model_input(const Experiment& experiment, const Dataset& dataset);

/// Every file that the experiment depends on: data and a loaded model.
std::vector<InputFile> experiment_inputs(const Experiment& experiment);

/// The experiment's task, prepared for its data. Throws as Task::prepare() does.
std::shared_ptr<const Task> prepared_task(const Experiment& experiment, const Dataset& dataset);

/// Reads the experiment's data, as every command that looks at it does.
Dataset load_dataset(const Experiment& experiment);

}  // namespace headprune
