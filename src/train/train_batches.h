// The batches of training in their order: a pure function of the seed and a cursor.
#pragma once

#include <vector>

#include "data/batch.h"
#include "train/checkpoints.h"
#include "train/options.h"

namespace headprune {

/// By examples or by tokens, as the options say.
BatchPlan batch_plan(const TrainOptions& options);
/// DataCursor::order_seed of a training with this seed.
uint64_t order_seed(uint64_t seed);

/// Optimizer steps that the whole training takes.
int64_t planned_steps(const std::vector<Example>& examples, const TrainOptions& options, uint64_t seed);

class TrainBatches {
 public:
  /// `examples` is kept by reference.
  TrainBatches(const std::vector<Example>& examples, const TrainOptions& options, torch::Device device);
  /// The batches of one optimizer step, fewer than gradient_accumulation_steps at the end of an epoch. Moves the cursor
  /// behind them, to the next epoch where this one is used up.
  std::vector<Batch> next(DataCursor& cursor);
  /// Epochs done at `cursor`, with their fraction.
  double epochs(const DataCursor& cursor);

 private:
  const std::vector<std::vector<int64_t>>& plan_of(const DataCursor& cursor);

  const std::vector<Example>& examples_;
  BatchPlan plan_;
  int64_t accumulated_;
  torch::Device device_;
  int64_t planned_epoch_ = -1;
  std::vector<std::vector<int64_t>> planned_;  // of planned_epoch_
};

/// Positions of a batch that receive loss.
int64_t loss_positions(const Batch& batch);

}  // namespace headprune
