#include "train/train_batches.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace headprune {

BatchPlan batch_plan(const TrainOptions& options) {
  if (options.tokens_per_batch) return {.examples = 0, .tokens = *options.tokens_per_batch};
  return {.examples = options.per_device_train_batch_size, .tokens = 0};
}

uint64_t order_seed(uint64_t seed) { return stream_seed(seed, "data/order"); }

int64_t planned_steps(const std::vector<Example>& examples, const TrainOptions& options, uint64_t seed) {
  if (options.max_steps > 0) return options.max_steps;
  const BatchPlan plan = batch_plan(options);
  const int64_t accumulated = options.gradient_accumulation_steps;
  double steps = 0;
  double epochs = options.num_train_epochs;
  for (int64_t epoch = 0; epochs > 0; ++epoch, --epochs) {
    const int64_t batches = std::ssize(plan_epoch(examples, plan, order_seed(seed), epoch));
    const auto here = static_cast<double>((batches + accumulated - 1) / accumulated);
    if (plan.examples > 0) {  // every epoch has as many
      steps = epochs * here;
      break;
    }
    steps += std::min(1.0, epochs) * here;
  }
  constexpr double kRounding = 1e-9;  // 0.1 x 3 + 0.2 x 3 is not above 0.9
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(steps - kRounding)));
}

TrainBatches::TrainBatches(const std::vector<Example>& examples, const TrainOptions& options, torch::Device device)
    : examples_(examples),
      plan_(batch_plan(options)),
      accumulated_(options.gradient_accumulation_steps),
      device_(device) {}

std::vector<Batch> TrainBatches::next(DataCursor& cursor) {
  const auto& planned = plan_of(cursor);
  std::vector<Batch> batches;
  while (std::ssize(batches) < accumulated_ && cursor.index < std::ssize(planned))
    batches.push_back(make_batch(examples_, planned[static_cast<size_t>(cursor.index++)], device_));
  if (cursor.index == std::ssize(planned)) {
    cursor.index = 0;
    ++cursor.epoch;
  }
  return batches;
}

double TrainBatches::epochs(const DataCursor& cursor) {
  const auto done = static_cast<double>(cursor.epoch);
  if (cursor.index == 0) return done;
  return done + static_cast<double>(cursor.index) / static_cast<double>(plan_of(cursor).size());
}

const std::vector<std::vector<int64_t>>& TrainBatches::plan_of(const DataCursor& cursor) {
  if (planned_epoch_ != cursor.epoch) {
    planned_ = plan_epoch(examples_, plan_, cursor.order_seed, cursor.epoch);
    planned_epoch_ = cursor.epoch;
  }
  return planned_;
}

int64_t loss_positions(const Batch& batch) {
  if (!batch.targets.defined()) return batch.size();
  return (batch.targets != kNoTarget).sum().item<int64_t>();
}

}  // namespace headprune
