#include "data/batch.h"

#include <numeric>
#include <set>

#include "core/random.h"
#include "data/vocabulary.h"
#include "support/catch_torch.h"

using namespace headprune;

namespace {

/// Examples of the given lengths; token k of example i is 10 i + k + 4.
std::vector<Example> of_lengths(const std::vector<int64_t>& lengths) {
  std::vector<Example> examples;
  for (const int64_t length : lengths) {
    Example example;
    example.label = static_cast<int64_t>(examples.size()) % 3;
    for (int64_t k = 0; k < length; ++k)
      example.tokens.push_back(10 * static_cast<int64_t>(examples.size()) + k + Vocabulary::kSpecials);
    examples.push_back(std::move(example));
  }
  return examples;
}

std::vector<Example> random_lengths(size_t count) {
  Random random(11);
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < count; ++i) lengths.push_back(1 + static_cast<int64_t>(random.below(60)));
  return of_lengths(lengths);
}

std::vector<int64_t> flat_sorted(const std::vector<std::vector<int64_t>>& batches) {
  std::vector<int64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  std::sort(all.begin(), all.end());
  return all;
}

int64_t padded_size(const std::vector<Example>& examples, const std::vector<int64_t>& batch) {
  size_t longest = 0;
  for (const int64_t i : batch) longest = std::max(longest, examples[static_cast<size_t>(i)].tokens.size());
  return static_cast<int64_t>(longest * batch.size());
}

}  // namespace

TEST_CASE("evaluation batches are sorted by length, ties by index", "[data]") {
  const auto examples = of_lengths({5, 2, 5, 1, 2});
  CHECK(plan_batches(examples, {.examples = 2}) == std::vector<std::vector<int64_t>>{{3, 1}, {4, 0}, {2}});
  CHECK(plan_batches(examples, {.tokens = 6}) == std::vector<std::vector<int64_t>>{{3, 1, 4}, {0}, {2}});
  CHECK(plan_batches({}, {.examples = 2}).empty());
  CHECK_THROWS(plan_batches(examples, {}));
}

TEST_CASE("every example is in exactly one batch and no batch exceeds its plan", "[data]") {
  const auto examples = random_lengths(1000);
  std::vector<int64_t> all(1000);
  std::iota(all.begin(), all.end(), 0);
  for (const BatchPlan plan : {BatchPlan{.examples = 16}, BatchPlan{.tokens = 200}, BatchPlan{.tokens = 30}})
    for (const auto& batches : {plan_batches(examples, plan), plan_epoch(examples, plan, 5, 0)}) {
      CHECK(flat_sorted(batches) == all);
      for (const auto& batch : batches) {
        if (plan.examples > 0) CHECK(static_cast<int64_t>(batch.size()) <= plan.examples);
        if (plan.tokens > 0) CHECK((batch.size() == 1 || padded_size(examples, batch) <= plan.tokens));
      }
    }
}

TEST_CASE("an epoch is a pure function of seed and epoch, shuffled, of similar lengths", "[data]") {
  const auto examples = random_lengths(2000);
  const BatchPlan plan{.examples = 10};
  const auto first = plan_epoch(examples, plan, 5, 0);
  CHECK(plan_epoch(examples, plan, 5, 0) == first);
  CHECK(plan_epoch(examples, plan, 5, 1) != first);
  CHECK(plan_epoch(examples, plan, 6, 0) != first);
  CHECK(first.size() == 200);
  // Padding stays small, although batches do not come in the order of length.
  int64_t padded = 0, real = 0;
  std::vector<size_t> longest;
  for (const auto& batch : first) {
    padded += padded_size(examples, batch);
    for (const int64_t i : batch) real += static_cast<int64_t>(examples[static_cast<size_t>(i)].tokens.size());
    longest.push_back(examples[static_cast<size_t>(batch.back())].tokens.size());
  }
  CHECK(static_cast<double>(padded) < 1.05 * static_cast<double>(real));
  CHECK_FALSE(std::is_sorted(longest.begin(), longest.end()));
}

TEST_CASE("a batch is padded at the end, to its longest example only", "[data]") {
  auto examples = of_lengths({3, 1, 2, 9});
  examples[0].tokens = {Vocabulary::kClassification, 7, Vocabulary::kUnknown};
  examples[2].tokens = {Vocabulary::kClassification, Vocabulary::kSeparator};
  examples[0].special = {0};
  examples[2].special = {0, 1};
  const Batch batch = make_batch(examples, {2, 0}, torch::kCPU);
  CHECK(batch.size() == 2);
  CHECK(batch.padded);
  CHECK(torch::equal(batch.tokens, torch::tensor({{2, 3, 0}, {2, 7, 1}}, torch::kInt64)));
  CHECK(torch::equal(batch.present.to(torch::kInt64), torch::tensor({{1, 1, 0}, {1, 1, 1}}, torch::kInt64)));
  CHECK(torch::equal(batch.special.to(torch::kInt64), torch::tensor({{1, 1, 0}, {1, 0, 0}}, torch::kInt64)));
  CHECK(torch::equal(batch.labels, torch::tensor({2, 0}, torch::kInt64)));
  CHECK_FALSE(batch.targets.defined());
  CHECK_FALSE(batch.token_types.defined());
  examples[0].token_types = {0, 1, 1};
  const torch::Tensor types = make_batch(examples, {2, 0}, torch::kCPU).token_types;
  CHECK(torch::equal(types, torch::tensor({{0, 0, 0}, {0, 1, 1}}, torch::kInt64)));
  CHECK(batch.examples == std::vector<int64_t>{2, 0});
  CHECK_FALSE(make_batch(examples, {3}, torch::kCPU).padded);
}

TEST_CASE("language modelling batches have targets and no labels", "[data]") {
  std::vector<Example> examples(2);
  examples[0] = {.tokens = {5, 6, 7}, .token_types = {}, .special = {}, .label = -1, .targets = {6, 7, 8}};
  examples[1] = {.tokens = {9}, .token_types = {}, .special = {}, .label = -1, .targets = {5}};
  const Batch batch = make_batch(examples, {0, 1}, torch::kCPU);
  CHECK_FALSE(batch.labels.defined());
  CHECK(torch::equal(batch.targets, torch::tensor({{6, 7, 8}, {5, -100, -100}}, torch::kInt64)));
}

TEST_CASE("make_batches covers a split", "[data]") {
  Split split;
  split.examples = of_lengths({4, 1, 4, 2});
  const auto batches = make_batches(split, {.examples = 2}, torch::kCPU);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].tokens.size(1) == 2);
  CHECK(batches[1].tokens.size(1) == 4);
  CHECK_FALSE(batches[1].padded);
}

TEST_CASE("a batch holds labels, numbers or targets, whichever its examples have", "[data]") {
  const auto with_number = [](double number) {
    return Example{.tokens = {2, 3}, .token_types = {}, .special = {}, .label = -1, .targets = {}, .number = number};
  };
  const Batch batch = make_batch({with_number(0.1), with_number(-7)}, {1, 0}, torch::kCPU);
  REQUIRE(batch.numbers.defined());
  CHECK(batch.numbers.scalar_type() == torch::kFloat64);
  CHECK(batch.numbers[0].item<double>() == -7);
  CHECK(batch.numbers[1].item<double>() == 0.1);
  CHECK_FALSE(batch.labels.defined());
  CHECK_FALSE(batch.targets.defined());
}

namespace {

/// Pairs of so many source and target tokens.
std::vector<Example> of_sides(const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  std::vector<Example> examples;
  for (const auto& [source, target] : sizes) {
    Example example;
    example.tokens.assign(static_cast<size_t>(source), 7);
    example.special = {source - 1};
    example.decoder_tokens.assign(static_cast<size_t>(target), 8);
    example.targets.assign(static_cast<size_t>(target), 9);
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace

TEST_CASE("a translation is as long as its longer side, ties by the source", "[data][translation]") {
  const auto examples = of_sides({{4, 2}, {1, 4}, {2, 2}, {3, 4}, {1, 3}});
  CHECK(plan_batches(examples, {.examples = 1}) == std::vector<std::vector<int64_t>>{{2}, {4}, {1}, {3}, {0}});
  CHECK(plan_batches(examples, {.tokens = 8}) == std::vector<std::vector<int64_t>>{{2, 4}, {1, 3}, {0}});

  Random random(3);
  std::vector<std::pair<int64_t, int64_t>> sizes;
  for (int i = 0; i < 500; ++i) {
    const auto source = static_cast<int64_t>(1 + random.below(40));
    sizes.emplace_back(source, 1 + static_cast<int64_t>(random.below(40)));
  }
  const auto many = of_sides(sizes);
  for (const auto& batches : {plan_batches(many, {.tokens = 120}), plan_epoch(many, {.tokens = 120}, 5, 0)}) {
    CHECK(flat_sorted(batches).size() == many.size());
    for (const auto& indices : batches) {
      const Batch batch = make_batch(many, indices, torch::kCPU);
      CHECK((batch.size() == 1 || std::max(batch.tokens.numel(), batch.decoder_tokens.numel()) <= 120));
    }
  }
}

TEST_CASE("a batch of translations holds what the decoder reads and predicts", "[data][translation]") {
  std::vector<Example> examples(2);
  examples[0] = {.tokens = {5, 6, 3}, .token_types = {}, .special = {2}, .label = -1, .targets = {8, 3}};
  examples[0].decoder_tokens = {2, 8};
  examples[1] = {.tokens = {5, 7, 3}, .token_types = {}, .special = {2}, .label = -1, .targets = {9, 8, 9, 3}};
  examples[1].decoder_tokens = {2, 9, 8, 9};
  const Batch batch = make_batch(examples, {0, 1}, torch::kCPU);
  CHECK(torch::equal(batch.tokens, torch::tensor({{5, 6, 3}, {5, 7, 3}}, torch::kInt64)));
  CHECK_FALSE(batch.padded);  // of the source
  CHECK(batch.present.all().item<bool>());
  CHECK(torch::equal(batch.special.to(torch::kInt64), torch::tensor({{0, 0, 1}, {0, 0, 1}}, torch::kInt64)));
  CHECK(torch::equal(batch.decoder_tokens, torch::tensor({{2, 8, 0, 0}, {2, 9, 8, 9}}, torch::kInt64)));
  CHECK(torch::equal(batch.decoder_present.to(torch::kInt64),
                     torch::tensor({{1, 1, 0, 0}, {1, 1, 1, 1}}, torch::kInt64)));
  CHECK(torch::equal(batch.targets, torch::tensor({{8, 3, -100, -100}, {9, 8, 9, 3}}, torch::kInt64)));
  CHECK_FALSE(batch.labels.defined());
  CHECK_FALSE(batch.numbers.defined());
  examples[1].tokens.pop_back();
  examples[1].special.clear();
  CHECK(make_batch(examples, {0, 1}, torch::kCPU).padded);
  examples[1].targets.pop_back();
  CHECK_THROWS(make_batch(examples, {0, 1}, torch::kCPU));
}

TEST_CASE("batches of anything else have no decoder side", "[data]") {
  const Batch batch = make_batch(of_lengths({2, 1}), {0, 1}, torch::kCPU);
  CHECK_FALSE(batch.decoder_tokens.defined());
  CHECK_FALSE(batch.decoder_present.defined());
}
