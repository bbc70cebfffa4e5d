// Learning rates as pure functions of the step (transformers: get_linear_schedule_with_warmup and its siblings).
#pragma once

#include "train/options.h"

namespace headprune {

/// warmup_steps where above 0, else ceil(warmup_ratio * total_steps).
int64_t warmup_steps(const TrainOptions& options, int64_t total_steps);

/// The learning rate of optimizer step `step` (the first is 0, and has rate 0 where there is a warm-up).
/// Warm-up: step / warmup. Then, with p = (step - warmup) / (total - warmup): linear 1 - p, cosine (1 + cos(pi p)) / 2.
double learning_rate(const TrainOptions& options, int64_t step, int64_t total_steps);

}  // namespace headprune
