#include "train/train_batches.h"

#include <set>

#include "support/tiny_models.h"

namespace headprune {
namespace {

TrainOptions of_two(int64_t accumulated) {
  TrainOptions options;
  options.per_device_train_batch_size = 2;
  options.gradient_accumulation_steps = accumulated;
  return options;
}

TEST_CASE("planned steps count optimizer steps, the last smaller one of an epoch included", "[train]") {
  const std::vector<Example> examples = six_examples();  // 3 batches of 2
  TrainOptions options = of_two(2);                      // 2 steps an epoch
  options.num_train_epochs = 3;
  CHECK(planned_steps(examples, options, 1) == 6);
  options.num_train_epochs = 1.25;
  CHECK(planned_steps(examples, options, 1) == 3);
  options.num_train_epochs = 0.01;
  CHECK(planned_steps(examples, options, 1) == 1);
  options.max_steps = 17;
  CHECK(planned_steps(examples, options, 1) == 17);
}

TEST_CASE("planned steps are those that training by tokens takes", "[train]") {
  const std::vector<Example> examples = six_examples();
  TrainOptions options;
  options.tokens_per_batch = 8;
  options.num_train_epochs = 4;
  const int64_t planned = planned_steps(examples, options, 7);
  TrainBatches batches(examples, options, torch::kCPU);
  DataCursor cursor{.epoch = 0, .order_seed = order_seed(7), .index = 0};
  int64_t steps = 0;
  for (; cursor.epoch < 4; ++steps)
    for (const Batch& batch : batches.next(cursor)) CHECK(batch.tokens.numel() <= 8);
  CHECK(planned == steps);
}

TEST_CASE("every epoch has every example once, in an order of its own", "[train]") {
  const std::vector<Example> examples = six_examples();
  TrainBatches batches(examples, of_two(2), torch::kCPU);
  DataCursor cursor{.epoch = 0, .order_seed = 3, .index = 0};
  std::set<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<int64_t> order;
    const std::vector<Batch> first = batches.next(cursor);
    CHECK(cursor.index == 2);
    CHECK(batches.epochs(cursor) == Approx(static_cast<double>(epoch) + 2.0 / 3));
    const std::vector<Batch> last = batches.next(cursor);
    CHECK(first.size() == 2);
    CHECK(last.size() == 1);
    for (const auto& part : {first, last})
      for (const Batch& batch : part) order.insert(order.end(), batch.examples.begin(), batch.examples.end());
    orders.insert(order);
    CHECK(std::set<int64_t>(order.begin(), order.end()).size() == 6);
    CHECK(order.size() == 6);
    CHECK(cursor.epoch == epoch + 1);
    CHECK(cursor.index == 0);
    CHECK(batches.epochs(cursor) == static_cast<double>(epoch + 1));
  }
  CHECK(orders.size() > 1);
}

TEST_CASE("a cursor gives the same batches to a reader that did not see those before it", "[train]") {
  const std::vector<Example> examples = six_examples();
  TrainBatches straight(examples, of_two(1), torch::kCPU), later(examples, of_two(1), torch::kCPU);
  DataCursor cursor{.epoch = 0, .order_seed = 3, .index = 0};
  for (int64_t i = 0; i < 4; ++i) straight.next(cursor);
  DataCursor restored = cursor;
  CHECK(straight.next(cursor).front().examples == later.next(restored).front().examples);
}

TEST_CASE("loss positions are examples, or targets of a language model", "[train]") {
  CHECK(loss_positions(make_batch(six_examples(), {0, 2, 3}, torch::kCPU)) == 3);
  const std::vector<Example> language = {
      {.tokens = {4, 5, 6}, .token_types = {}, .special = {}, .label = -1, .targets = {5, 6, kNoTarget}},
      {.tokens = {4, 5}, .token_types = {}, .special = {}, .label = -1, .targets = {5, kNoTarget}}};
  CHECK(loss_positions(make_batch(language, {0, 1}, torch::kCPU)) == 3);
}

}  // namespace
}  // namespace headprune
