// Training checkpoints: folder/checkpoint-000200/ with weights, optimizer, generators and state.json, and beside them
// the text files `latest` and `best`, one folder name each (docs/formats.md section 13).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/heads.h"
#include "model/checkpoint.h"

namespace headprune {

/// Where the next batch comes from: batch `index` of plan_epoch(examples, plan, order_seed, epoch).
struct DataCursor {
  int64_t epoch = 0;
  uint64_t order_seed = 0;
  int64_t index = 0;
};

/// Everything about a training but tensors; state.json. The first keys are those of transformers' trainer_state.json.
struct TrainState {
  int64_t global_step = 0;  // optimizer steps done
  double epoch = 0;         // passes over the data done, with their fraction
  int64_t max_steps = 0;    // of the whole training
  std::optional<double> best_metric;
  int64_t best_step = 0;  // 0 = none yet
  Json log_history = Json::array();
  DataCursor cursor;
  int64_t evaluated_step = 0;  // the last step whose weights were evaluated
  int64_t without_gain = 0;    // evaluations in a row that were not the best so far
  double loss_sum = 0;         // over the steps since the last logged loss
  int64_t loss_steps = 0;
  int64_t forward = 0, backward = 0;  // passes, evaluation included
  bool finished = false;

  Json to_json() const;
  /// Throws Error(run_failed) naming `where`.
  static TrainState from_json(const Json& json, const std::string& where);
};

/// "checkpoint-000200".
std::string checkpoint_name(int64_t step);
/// Steps of the checkpoint folders inside `folder`, ascending.
std::vector<int64_t> checkpoint_steps(const fs::path& folder);

struct CheckpointContent {
  const Model* model = nullptr;  // null: its weights are not trained
  NamedTensors gates = {};       // parameters of a GateSource, where there is one
  NamedTensors optimizer, generators;
  const TrainState& state;
  const HeadSet& removed;  // mask.json, where not empty
  const std::string& config_yaml;
};
/// Writes the folder, then `latest`. Returns the SHA-256 of the manifest.
std::string write_checkpoint(const fs::path& folder, const CheckpointContent& content);

/// The newest checkpoint whose manifest verifies. Removes leftovers of interrupted writes; every newer one that was
/// skipped gives one sentence to `warn`.
std::optional<fs::path> newest_checkpoint(const fs::path& folder, const std::function<void(const std::string&)>& warn);

/// Writes `best` and deletes old checkpoints: those of the `limit` newest steps up to state.global_step stay, and the
/// best. Nothing is deleted unless the newest verifies.
void retire_checkpoints(const fs::path& folder, const TrainState& state, int64_t limit);

}  // namespace headprune
