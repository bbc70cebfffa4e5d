#include "data/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace headprune {

namespace {

using Indices = std::vector<int64_t>;

constexpr int64_t kPoolBatches = 50;

int64_t size_of(const std::vector<int64_t>& ids) { return static_cast<int64_t>(ids.size()); }

/// Of the longer side, where there are two.
int64_t length(const std::vector<Example>& examples, int64_t index) {
  const Example& example = examples[static_cast<size_t>(index)];
  return std::max(size_of(example.tokens), size_of(example.decoder_tokens));
}

/// By length, then by the source's: between translations of one length the encoder's padding stays small too.
void sort_by_length(const std::vector<Example>& examples, Indices& order) {
  const auto key = [&](int64_t index) {
    return std::pair(length(examples, index), examples[static_cast<size_t>(index)].tokens.size());
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key(a) < key(b); });
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

using Rows = std::vector<const Example*>;

void fill_row(torch::Tensor& into, int64_t row, const std::vector<int64_t>& ids) {
  std::copy(ids.begin(), ids.end(), into.data_ptr<int64_t>() + row * into.size(1));
}

void fill_present(torch::Tensor& into, int64_t row, size_t present) {
  std::fill_n(into.data_ptr<bool>() + row * into.size(1), present, true);
}

void add_labels(Batch& batch, const Rows& rows) {
  batch.labels = torch::empty({batch.size()}, torch::kInt64);  // [B]
  std::transform(rows.begin(), rows.end(), batch.labels.data_ptr<int64_t>(),
                 [](const Example* example) { return example->label; });
}

void add_numbers(Batch& batch, const Rows& rows) {
  batch.numbers = torch::empty({batch.size()}, torch::kFloat64);  // [B]
  std::transform(rows.begin(), rows.end(), batch.numbers.data_ptr<double>(), [](const Example* example) {
    TORCH_CHECK(example->number.has_value(), "one number for each example");
    return *example->number;
  });
}

/// One target for each token that the model predicts from.
void add_targets(Batch& batch, const Rows& rows, int64_t width) {
  batch.targets = torch::full({batch.size(), width}, kNoTarget, torch::kInt64);  // [B, T]
  for (int64_t row = 0; row < batch.size(); ++row) {
    const Example& example = *rows[static_cast<size_t>(row)];
    const auto& read = example.decoder_tokens.empty() ? example.tokens : example.decoder_tokens;
    TORCH_CHECK(example.targets.size() == read.size(), "one target for each token");
    fill_row(batch.targets, row, example.targets);
  }
}

void add_decoder_side(Batch& batch, const Rows& rows) {
  int64_t width = 0;
  for (const Example* example : rows) {
    TORCH_CHECK(!example->decoder_tokens.empty(), "the decoder needs a token in each example");
    width = std::max(width, size_of(example->decoder_tokens));
  }
  add_targets(batch, rows, width);
  batch.decoder_tokens = torch::zeros({batch.size(), width}, torch::kInt64);  // [B, T]
  batch.decoder_present = torch::zeros({batch.size(), width}, torch::kBool);  // [B, T]
  for (int64_t row = 0; row < batch.size(); ++row) {
    const auto& ids = rows[static_cast<size_t>(row)]->decoder_tokens;
    fill_row(batch.decoder_tokens, row, ids);
    fill_present(batch.decoder_present, row, ids.size());
    batch.references.push_back(rows[static_cast<size_t>(row)]->reference);
  }
}

/// Positions of the example's choices together.
int64_t choice_positions(const Example& example, int64_t& width) {
  for (const Choice& choice : example.choices) width = std::max(width, size_of(choice.tokens));
  return std::ssize(example.choices);
}

/// Cuts a batch where all choices of its examples are more positions than the plan allows.
std::vector<Indices> parts_with_choices(const std::vector<Example>& examples, const Indices& indices,
                                        const BatchPlan& plan) {
  if (plan.tokens == 0) return {indices};
  std::vector<Indices> parts(1);
  int64_t rows = 0, width = 0;
  for (const int64_t index : indices) {
    rows += choice_positions(examples[static_cast<size_t>(index)], width);
    if (rows * width > plan.tokens && !parts.back().empty()) {
      parts.emplace_back();
      width = 0;
      rows = choice_positions(examples[static_cast<size_t>(index)], width);
    }
    parts.back().push_back(index);
  }
  return parts;
}

/// A row for each choice.
Batch make_choice_batch(const std::vector<Example>& examples, const Indices& indices, torch::Device device) {
  std::vector<Example> rows;
  std::vector<ChoiceRows> choices;
  for (const int64_t index : indices) {
    const Example& example = examples[static_cast<size_t>(index)];
    ChoiceRows& one =
        choices.emplace_back(ChoiceRows{.first = std::ssize(rows), .right = example.right_choice, .characters = {}});
    for (const Choice& choice : example.choices) {
      Example& row = rows.emplace_back();
      row.tokens = choice.tokens;
      row.targets = choice.targets;
      one.characters.push_back(choice.characters);
    }
  }
  Indices all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  Batch batch = make_batch(rows, all, device);
  batch.examples = indices;
  batch.choices = std::move(choices);
  batch.characters.clear();  // of language modelling
  batch.bytes.clear();
  return batch;
}

}  // namespace

std::vector<Indices> plan_batches(const std::vector<Example>& examples, const BatchPlan& plan) {
  check_plan(plan);
  Indices order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  sort_by_length(examples, order);
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
    sort_by_length(examples, pool);
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
  std::vector<const Example*> rows;
  for (const int64_t index : indices) rows.push_back(&examples[static_cast<size_t>(index)]);
  const auto count = static_cast<int64_t>(rows.size());
  const auto [shortest, longest] = std::minmax_element(
      rows.begin(), rows.end(), [](const Example* a, const Example* b) { return a->tokens.size() < b->tokens.size(); });
  const int64_t width = size_of((*longest)->tokens);
  TORCH_CHECK(!(*shortest)->tokens.empty(), "an example needs a token");

  Batch batch;
  batch.examples = indices;
  batch.padded = size_of((*shortest)->tokens) < width;
  const Example& first = *rows.front();
  const bool typed =
      std::any_of(rows.begin(), rows.end(), [](const Example* example) { return !example->token_types.empty(); });
  batch.tokens = torch::zeros({count, width}, torch::kInt64);                  // [B, S]; 0 is an id of any model
  batch.present = torch::zeros({count, width}, torch::kBool);                  // [B, S]
  batch.special = torch::zeros({count, width}, torch::kBool);                  // [B, S]
  if (typed) batch.token_types = torch::zeros({count, width}, torch::kInt64);  // [B, S]
  for (int64_t row = 0; row < count; ++row) {
    const Example& example = *rows[static_cast<size_t>(row)];
    batch.characters.push_back(example.characters);
    batch.bytes.push_back(example.bytes);
    fill_row(batch.tokens, row, example.tokens);
    fill_present(batch.present, row, example.tokens.size());
    for (const int64_t position : example.special) batch.special.data_ptr<bool>()[row * width + position] = true;
    if (typed) fill_row(batch.token_types, row, example.token_types);
  }
  if (!first.decoder_tokens.empty())
    add_decoder_side(batch, rows);
  else if (!first.targets.empty())
    add_targets(batch, rows, width);
  else if (first.number)
    add_numbers(batch, rows);
  else
    add_labels(batch, rows);
  for (torch::Tensor* tensor : {&batch.tokens, &batch.present, &batch.special, &batch.token_types, &batch.labels,
                                &batch.numbers, &batch.targets, &batch.decoder_tokens, &batch.decoder_present})
    if (tensor->defined()) *tensor = tensor->to(device);
  return batch;
}

std::vector<Batch> make_batches(const Split& split, const BatchPlan& plan, torch::Device device, ChoiceUse use) {
  std::vector<Batch> batches;
  const bool all = use == ChoiceUse::all && !split.examples.empty() && !split.examples.front().choices.empty();
  for (const Indices& indices : plan_batches(split.examples, plan)) {
    if (!all) {
      batches.push_back(make_batch(split.examples, indices, device));
      continue;
    }
    for (const Indices& part : parts_with_choices(split.examples, indices, plan))
      batches.push_back(make_choice_batch(split.examples, part, device));
  }
  return batches;
}

}  // namespace headprune
