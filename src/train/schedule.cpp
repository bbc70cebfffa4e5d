#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headprune {

int64_t warmup_steps(const TrainOptions& options, int64_t total_steps) {
  if (options.warmup_steps > 0) return options.warmup_steps;
  return static_cast<int64_t>(std::ceil(options.warmup_ratio * static_cast<double>(total_steps)));
}

double learning_rate(const TrainOptions& options, int64_t step, int64_t total_steps) {
  if (options.lr_scheduler_type == LrScheduler::constant) return options.learning_rate;
  const int64_t warmup = warmup_steps(options, total_steps);
  if (step < warmup) return options.learning_rate * static_cast<double>(step) / static_cast<double>(warmup);
  if (options.lr_scheduler_type == LrScheduler::constant_with_warmup) return options.learning_rate;

  const double length = static_cast<double>(std::max<int64_t>(1, total_steps - warmup));
  const double progress = std::min(1.0, static_cast<double>(step - warmup) / length);
  const double factor = options.lr_scheduler_type == LrScheduler::linear
                            ? 1 - progress
                            : 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return options.learning_rate * factor;
}

}  // namespace headprune
