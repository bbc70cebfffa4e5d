#include "train/schedule.h"

#include "support/catch_torch.h"

namespace headprune {
namespace {

TrainOptions with(LrScheduler type, int64_t warmup) {
  TrainOptions options;
  options.learning_rate = 0.5;
  options.lr_scheduler_type = type;
  options.warmup_steps = warmup;
  return options;
}

TEST_CASE("linear schedule equals transformers' get_linear_schedule_with_warmup", "[train]") {
  // Its lambda for 3 warm-up steps and 10 in all, at steps 0 ... 10, computed in Python.
  const double factors[] = {0.0,
                            0.3333333333333333,
                            0.6666666666666666,
                            1.0,
                            0.8571428571428572,
                            0.7142857142857143,
                            0.5714285714285714,
                            0.42857142857142855,
                            0.2857142857142857,
                            0.14285714285714285,
                            0.0};
  const TrainOptions options = with(LrScheduler::linear, 3);
  for (int64_t step = 0; step <= 10; ++step) {
    INFO("step " << step);
    CHECK(learning_rate(options, step, 10) == Approx(0.5 * factors[step]).epsilon(1e-12).margin(1e-15));
  }
}

TEST_CASE("cosine schedule goes through half at the middle and ends at 0", "[train]") {
  const TrainOptions options = with(LrScheduler::cosine, 2);
  CHECK(learning_rate(options, 0, 10) == 0);
  CHECK(learning_rate(options, 1, 10) == 0.25);
  CHECK(learning_rate(options, 2, 10) == 0.5);
  CHECK(learning_rate(options, 4, 10) == Approx(0.25 * (1 + 0.7071067811865476)));
  CHECK(learning_rate(options, 6, 10) == Approx(0.25));
  CHECK(learning_rate(options, 10, 10) == Approx(0).margin(1e-15));
}

TEST_CASE("constant schedules stay at the learning rate", "[train]") {
  CHECK(learning_rate(with(LrScheduler::constant, 0), 0, 10) == 0.5);
  CHECK(learning_rate(with(LrScheduler::constant, 0), 9, 10) == 0.5);
  const TrainOptions warm = with(LrScheduler::constant_with_warmup, 4);
  CHECK(learning_rate(warm, 1, 10) == 0.125);
  CHECK(learning_rate(warm, 4, 10) == 0.5);
  CHECK(learning_rate(warm, 9, 10) == 0.5);
}

TEST_CASE("warmup_steps wins over warmup_ratio, which is rounded up", "[train]") {
  TrainOptions options;
  CHECK(warmup_steps(options, 100) == 0);
  options.warmup_ratio = 0.1;
  CHECK(warmup_steps(options, 101) == 11);
  options.warmup_steps = 5;
  CHECK(warmup_steps(options, 101) == 5);
}

TEST_CASE("rates are finite when warm-up takes the whole training, and at the end of one step", "[train]") {
  CHECK(learning_rate(with(LrScheduler::linear, 10), 10, 10) == 0.5);
  CHECK(learning_rate(with(LrScheduler::linear, 0), 1, 1) == 0);
  CHECK(learning_rate(with(LrScheduler::linear, 20), 9, 10) == Approx(0.225));
}

}  // namespace
}  // namespace headprune
