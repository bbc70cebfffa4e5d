#include "data/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/random.h"

namespace headprune {

namespace {

using Indices = std::vector<int64_t>;

constexpr int64_t kPoolBatches = 50;

int64_t length(const std::vector<Example>& examples, int64_t index) {
  return static_cast<int64_t>(examples[static_cast<size_t>(index)].tokens.size());
}

/// Cuts indices that ascend in length into batches.
void pack(const std::vector<Example>& examples, const Indices& sorted, const BatchPlan& plan,
          std::vector<Indices>& batches) {
  Indices batch;
  for (const int64_t index : sorted) {
    const auto grown = static_cast<int64_t>(batch.size()) + 1;
    // The newest example is the longest one, so it sets the width of the batch.
    const bool full = plan.examples > 0 ? grown > plan.examples : grown * length(examples, index) > plan.tokens;
    if (full && !batch.empty()) {
      batches.push_back(std::move(batch));
      batch.clear();
    }
    batch.push_back(index);
  }
  if (!batch.empty()) batches.push_back(std::move(batch));
}

void check_plan(const BatchPlan& plan) {
  TORCH_CHECK((plan.examples > 0) != (plan.tokens > 0), "exactly one of a plan's two sizes must be set");
}

}  // namespace

std::vector<Indices> plan_batches(const std::vector<Example>& examples, const BatchPlan& plan) {
  check_plan(plan);
  Indices order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return length(examples, a) < length(examples, b); });
  std::vector<Indices> batches;
  pack(examples, order, plan, batches);
  return batches;
}

std::vector<Indices> plan_epoch(const std::vector<Example>& examples, const BatchPlan& plan, uint64_t seed,
                                int64_t epoch) {
  check_plan(plan);
  Indices order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, fmt::format("data/epoch-{}", epoch));
  random.shuffle(order);

  std::vector<Indices> batches;
  const int64_t pool_size = kPoolBatches * std::max(plan.examples, plan.tokens);
  Indices pool;
  int64_t filled = 0;
  const auto flush = [&] {
    std::stable_sort(pool.begin(), pool.end(),
                     [&](int64_t a, int64_t b) { return length(examples, a) < length(examples, b); });
    pack(examples, pool, plan, batches);
    pool.clear();
    filled = 0;
  };
  for (const int64_t index : order) {
    pool.push_back(index);
    filled += plan.examples > 0 ? 1 : length(examples, index);
    if (filled >= pool_size) flush();
  }
  flush();
  random.shuffle(batches);
  return batches;
}

Batch make_batch(const std::vector<Example>& examples, const Indices& indices, torch::Device device) {
  TORCH_CHECK(!indices.empty(), "a batch needs an example");
  const auto count = static_cast<int64_t>(indices.size());
  int64_t width = 0, shortest = length(examples, indices.front());
  for (const int64_t index : indices) {
    width = std::max(width, length(examples, index));
    shortest = std::min(shortest, length(examples, index));
  }
  TORCH_CHECK(shortest > 0, "an example needs a token");

  Batch batch;
  batch.examples = indices;
  batch.padded = shortest < width;
  const Example& first = examples[static_cast<size_t>(indices.front())];
  const bool language = !first.targets.empty(), numbered = first.number.has_value();
  const bool typed = std::any_of(indices.begin(), indices.end(), [&](int64_t index) {
    return !examples[static_cast<size_t>(index)].token_types.empty();
  });
  batch.tokens = torch::zeros({count, width}, torch::kInt64);                  // [B, T]; 0 is an id of any model
  batch.present = torch::zeros({count, width}, torch::kBool);                  // [B, T]
  batch.special = torch::zeros({count, width}, torch::kBool);                  // [B, T]
  if (typed) batch.token_types = torch::zeros({count, width}, torch::kInt64);  // [B, T]
  if (language)
    batch.targets = torch::full({count, width}, kNoTarget, torch::kInt64);  // [B, T]
  else if (numbered)
    batch.numbers = torch::empty({count}, torch::kFloat64);  // [B]
  else
    batch.labels = torch::empty({count}, torch::kInt64);  // [B]

  auto* tokens = batch.tokens.data_ptr<int64_t>();
  auto* present = batch.present.data_ptr<bool>();
  auto* special = batch.special.data_ptr<bool>();
  for (int64_t row = 0; row < count; ++row) {
    const Example& example = examples[static_cast<size_t>(indices[static_cast<size_t>(row)])];
    std::copy(example.tokens.begin(), example.tokens.end(), tokens + row * width);
    std::fill_n(present + row * width, example.tokens.size(), true);
    for (const int64_t position : example.special) special[row * width + position] = true;
    if (typed)
      std::copy(example.token_types.begin(), example.token_types.end(),
                batch.token_types.data_ptr<int64_t>() + row * width);
    if (language) {
      TORCH_CHECK(example.targets.size() == example.tokens.size(), "one target for each token");
      std::copy(example.targets.begin(), example.targets.end(), batch.targets.data_ptr<int64_t>() + row * width);
    } else if (numbered) {
      TORCH_CHECK(example.number.has_value(), "one number for each example");
      batch.numbers.data_ptr<double>()[row] = *example.number;
    } else {
      batch.labels.data_ptr<int64_t>()[row] = example.label;
    }
  }
  for (torch::Tensor* tensor : {&batch.tokens, &batch.present, &batch.special, &batch.token_types, &batch.labels,
                                &batch.numbers, &batch.targets})
    if (tensor->defined()) *tensor = tensor->to(device);
  return batch;
}

std::vector<Batch> make_batches(const Split& split, const BatchPlan& plan, torch::Device device) {
  std::vector<Batch> batches;
  for (const Indices& indices : plan_batches(split.examples, plan))
    batches.push_back(make_batch(split.examples, indices, device));
  return batches;
}

}  // namespace headprune
