// Training: one loop for training from scratch and for fine-tuning under a mask, exact when it is interrupted and
// continued. Same seed, threads and device: same bytes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "task/task.h"
#include "train/checkpoints.h"
#include "train/gate_source.h"
#include "train/options.h"
#include "train/train_batches.h"

namespace headprune {

/// One row of train.jsonl. Split "train": loss (mean over the steps since the last such row), learning_rate, grad_norm
/// (before clipping); where gates are learnt also their penalty, their gradient's norm and what their source measures.
/// Split "select": the metric that the task is chosen by, and loss. Non-finite values are passed on.
struct TrainPoint {
  int64_t step = 0;
  double epoch = 0;
  std::string split, name;
  double value = 0;
};

/// How far a training is.
struct TrainProgress {
  int64_t step = 0, max_steps = 0;
  double loss = 0;  // of this step
  double tokens_per_second = 0;
};

struct SavedCheckpoint {
  int64_t step = 0;
  fs::path path;
  std::string manifest_sha256;
};

struct TrainRequest {
  Model& model;  // initialised, all heads of `removed` still present; overwritten when a checkpoint is continued
  const Task& task;
  const Dataset& dataset;  // learns from `train`, evaluates on `select` (where it has examples)
  TrainOptions options;
  HeadSet removed = {};                              // heads whose gates are 0 throughout
  GateTraining gates = {};                           // learnt ones, where none are removed
  fs::path folder = {};                              // of the checkpoints; empty = none are kept
  fs::path optimizer_from = {};                      // folder of an earlier training whose optimizer state goes on
  uint64_t seed = 0;                                 // of the data order and of dropout
  std::string config_yaml = {};                      // stored with every checkpoint
  std::function<void(int64_t)> on_step = {};         // before the first step and after each: the model has its weights
  bool evaluate = true;                              // false: never, so that nothing is best and nothing stops early
  std::function<void(const TrainPoint&)> sink = {};  // may be empty, like the following
  std::function<void(const TrainProgress&)> on_progress = {};  // after each step
  std::function<void(const SavedCheckpoint&)> on_checkpoint = {};
  std::function<void(const std::string&)> on_warning = {};
};

struct TrainResult {
  int64_t steps = 0;       // optimizer steps of the whole training, earlier calls included
  int64_t steps_here = 0;  // of this call: 0 when it was finished before
  double epoch = 0;
  std::optional<double> best_metric;  // Task::chosen_by() on `select`
  int64_t best_step = 0;
  bool stopped_early = false;
  int64_t forward = 0, backward = 0;  // passes of the whole training, evaluations included
  Json log_history;                   // as in trainer_state.json
};

/// Trains until the last step, or until early stopping; leaves the model in evaluation mode, without gradients, with
/// the weights of the last step (of the best with load_best_model_at_end).
///
/// Continues from the newest checkpoint in `folder` that verifies, as if there had been no interruption; a finished
/// training only loads its weights. A stop request ends it between steps, after a checkpoint, with Interrupted.
/// Throws Error(run_failed): a non-finite loss or gradient norm (before the step, naming step and examples; no
/// checkpoint of it is kept), a checkpoint of another training, no examples.
TrainResult train(const TrainRequest& request);

/// Disk space that checkpoints take at most: weights and two moments of 4 bytes, for the `save_total_limit` newest, the
/// best, and the one that is being written.
uint64_t checkpoint_bytes(int64_t parameters, const TrainOptions& options);

}  // namespace headprune
