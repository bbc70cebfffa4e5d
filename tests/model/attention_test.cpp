#include "model/attention.h"

#include <cmath>

#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

torch::Tensor matrix(const std::vector<std::vector<double>>& rows) {
  std::vector<torch::Tensor> all;
  for (const auto& row : rows) all.push_back(torch::tensor(row, torch::kFloat64));
  return torch::stack(all);
}

void assign(torch::Tensor parameter, const torch::Tensor& values) {
  const torch::NoGradGuard no_grad;
  parameter.copy_(values);
}

Attention zero_attention(int64_t d_model, const HeadLayout& layout) {
  Attention attention(d_model, layout, 0.0);
  attention.to(torch::kFloat64);
  attention.eval();
  return attention;
}

Attention random_attention(uint64_t seed, const HeadLayout& layout) {
  Attention attention = zero_attention(7, layout);
  disturb(attention, seed, 0.5);
  return attention;
}

struct Asked {
  torch::Tensor gates = {};
  bool weights = false;
};
struct Attended {
  torch::Tensor output, context, weights;
};

/// Both halves of self-attention.
Attended attended(Attention& attention, const torch::Tensor& x, const Visibility& visibility, const Asked& asked = {}) {
  const HeadContexts heads = attention.attend(x, x, visibility, asked.weights);
  return {attention.combine(heads.context, asked.gates), heads.context, heads.weights};
}

const HeadLayout kOdd{.heads = 3, .groups = 3, .key_width = 5, .value_width = 2};
const HeadLayout kEqual{.heads = 2, .groups = 2, .key_width = 4, .value_width = 4};

/// Keys of 3 examples: all of them, the first two, the first.
torch::Tensor some_padding() {
  return torch::tensor({1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0}, torch::kInt64).view({3, 4}).to(torch::kBool);
}

TEST_CASE("equal scores give every head the mean of the visible values", "[model]") {
  Attention attention = zero_attention(2, {.heads = 1, .groups = 1, .key_width = 3, .value_width = 2});
  assign(attention.value().weight, torch::eye(2, torch::kFloat64));
  assign(attention.output().weight, torch::eye(2, torch::kFloat64));
  const torch::Tensor x = matrix({{1, 0}, {3, 2}, {5, 10}}).unsqueeze(0);
  const torch::Tensor two_keys = torch::tensor({1, 1, 0}, torch::kInt64).to(torch::kBool).unsqueeze(0);
  struct Case {
    Visibility visibility;
    torch::Tensor expected;
  };
  const Case cases[] = {{Visibility(Pattern::full), matrix({{3, 4}, {3, 4}, {3, 4}})},
                        {Visibility(Pattern::causal), matrix({{1, 0}, {2, 1}, {3, 4}})},
                        {Visibility(Pattern::full, two_keys), matrix({{2, 1}, {2, 1}, {2, 1}})},
                        {Visibility(Pattern::causal, two_keys), matrix({{1, 0}, {2, 1}, {2, 1}})}};
  for (const Case& one : cases)
    for (const bool weights : {false, true}) {
      const auto result = attended(attention, x, one.visibility, {.gates = {}, .weights = weights});
      CHECK(max_difference(result.output[0], one.expected) < 1e-12);
    }
}

TEST_CASE("scores are divided by the square root of the key width", "[model]") {
  // Every query is (1, 1, 1, 1); keys are (c, 0, 0, 0) and 0 with c / sqrt(4) = log 2: weights 2/3 and 1/3.
  Attention attention = zero_attention(1, {.heads = 1, .groups = 1, .key_width = 4, .value_width = 1});
  assign(attention.query().bias, torch::ones({4}, torch::kFloat64));
  assign(attention.key().weight, matrix({{2 * std::log(2.0)}, {0}, {0}, {0}}));
  assign(attention.value().weight, matrix({{9}}));
  assign(attention.output().weight, matrix({{1}}));
  assign(attention.output().bias, torch::tensor({0.5}, torch::kFloat64));
  const torch::Tensor x = matrix({{1}, {0}}).unsqueeze(0);
  const auto seen = attended(attention, x, Visibility(Pattern::full), {.gates = {}, .weights = true});
  CHECK(max_difference(seen.weights[0][0], matrix({{2.0 / 3, 1.0 / 3}, {2.0 / 3, 1.0 / 3}})) < 1e-12);
  CHECK(max_difference(seen.context[0][0], matrix({{6}, {6}})) < 1e-12);
  CHECK(max_difference(seen.output[0], matrix({{6.5}, {6.5}})) < 1e-12);
  const auto fused = attended(attention, x, Visibility(Pattern::full));
  CHECK(max_difference(fused.output[0], matrix({{6.5}, {6.5}})) < 1e-12);
  CHECK_FALSE(fused.weights.defined());
}

TEST_CASE("a head with sharp scores copies the one value it looks at", "[model]") {
  // State i is the unit vector e_i; head 0 looks one place to the right, head 1 at itself, and adds 10 times as much.
  Attention attention = zero_attention(3, {.heads = 2, .groups = 2, .key_width = 3, .value_width = 3});
  const torch::Tensor one = torch::eye(3, torch::kFloat64);
  assign(attention.query().weight, torch::cat({one * 60, one * 60}));
  assign(attention.key().weight, torch::cat({one.roll(1, 1) * 60, one * 60}));
  assign(attention.value().weight, torch::cat({one, one * 10}));
  assign(attention.output().weight, torch::cat({one, one}, 1));
  const torch::Tensor x = one.unsqueeze(0);
  const auto result = attended(attention, x, Visibility(Pattern::full), {.gates = {}, .weights = true});
  CHECK(max_difference(result.weights[0][0], matrix({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}})) < 1e-12);
  CHECK(max_difference(result.weights[0][1], one) < 1e-12);
  CHECK(max_difference(result.output[0], matrix({{10, 1, 0}, {0, 10, 1}, {1, 0, 10}})) < 1e-12);
}

TEST_CASE("fused and explicit attention give the same numbers", "[model]") {
  for (const HeadLayout& layout : {kOdd, kEqual})
    for (const Pattern pattern : {Pattern::full, Pattern::causal})
      for (const bool padded : {false, true})
        for (const auto type : {torch::kFloat32, torch::kFloat64}) {
          Attention attention = random_attention(3, layout);
          attention.to(type);
          const torch::Tensor x = random_tensor({3, 4, 7}, 4).to(type);
          const Visibility visibility(pattern, padded ? some_padding() : torch::Tensor());
          const auto fused = attended(attention, x, visibility, {});
          const auto seen = attended(attention, x, visibility, {.gates = {}, .weights = true});
          CHECK(max_difference(fused.output, seen.output) < (type == torch::kFloat32 ? 1e-5 : 1e-12));
          CHECK(max_difference(fused.context, seen.context) < (type == torch::kFloat32 ? 1e-5 : 1e-12));
          CHECK(seen.context.sizes() == torch::IntArrayRef({3, layout.heads, 4, layout.value_width}));
        }
}

TEST_CASE("attention weights sum to 1 and are 0 where nothing may be seen", "[model]") {
  Attention attention = random_attention(5, kOdd);
  const torch::Tensor x = random_tensor({3, 4, 7}, 6), keys = some_padding();
  for (const Pattern pattern : {Pattern::full, Pattern::causal}) {
    const Visibility visibility(pattern, keys);
    const torch::Tensor weights = attended(attention, x, visibility, {.gates = {}, .weights = true}).weights;
    CHECK(max_difference(weights.sum(-1), torch::ones({3, 3, 4}, torch::kFloat64)) < 1e-12);
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t t = 0; t < 4; ++t)
        for (int64_t s = 0; s < 4; ++s) {
          const bool visible = keys[b][s].item<bool>() && (pattern == Pattern::full || s <= t);
          CHECK((weights[b][0][t][s].item<double>() > 0) == visible);
        }
  }
}

TEST_CASE("a query that sees no key has the context 0, not NaN", "[model]") {
  Attention attention = random_attention(7, kOdd);
  const torch::Tensor x = random_tensor({2, 3, 7}, 8);
  const torch::Tensor keys = torch::tensor({1, 1, 1, 0, 0, 0}, torch::kInt64).view({2, 3}).to(torch::kBool);
  for (const bool weights : {false, true}) {
    const auto result = attended(attention, x, Visibility(Pattern::full, keys), {.gates = {}, .weights = weights});
    CHECK(result.context[1].abs().max().item<double>() == 0.0);
    CHECK(result.output.isfinite().all().item<bool>());
  }
}

TEST_CASE("a gate of 0 equals zeroing the head's columns of the output projection", "[model]") {
  Attention attention = random_attention(9, kOdd);
  const torch::Tensor x = random_tensor({2, 4, 7}, 10);
  const Visibility visibility(Pattern::full);
  const torch::Tensor gates = torch::tensor({1.0f, 0.0f, 1.0f});
  const torch::Tensor gated = attended(attention, x, visibility, {.gates = gates}).output;
  const torch::Tensor intact = attended(attention, x, visibility).output;
  {
    const torch::NoGradGuard no_grad;
    attention.output().weight.narrow(1, 2, 2).zero_();
  }
  CHECK(max_difference(gated, attended(attention, x, visibility).output) < 1e-12);
  CHECK(max_difference(gated, intact) > 0.1);
}

TEST_CASE("gates multiply contexts, and contexts come back as they were before", "[model]") {
  Attention attention = random_attention(11, kOdd);
  const torch::Tensor x = random_tensor({2, 4, 7}, 12);
  const Visibility visibility(Pattern::causal);
  const torch::Tensor gates = random_tensor({2, 3}, 13);
  const auto plain = attended(attention, x, visibility, {});
  const auto gated = attended(attention, x, visibility, {.gates = gates});
  CHECK(torch::equal(plain.context, gated.context));
  torch::Tensor expected = attention.output().bias.expand({2, 4, 7});
  for (int64_t h = 0; h < 3; ++h) {
    const torch::Tensor part =
        at::matmul(plain.context.select(1, h), attention.output().weight.narrow(1, 2 * h, 2).t());
    expected = expected + gates.select(1, h).view({2, 1, 1}) * part;
  }
  CHECK(max_difference(gated.output, expected) < 1e-12);
}

TEST_CASE("gate gradients equal central differences", "[model]") {
  Attention attention = random_attention(14, kOdd);
  const torch::Tensor x = random_tensor({3, 4, 7}, 15), direction = random_tensor({3, 4, 7}, 16);
  for (const bool weights : {false, true})
    for (const Pattern pattern : {Pattern::full, Pattern::causal}) {
      const Visibility visibility(pattern, some_padding());
      const auto loss = [&](const torch::Tensor& gates) {
        const torch::Tensor y = attended(attention, x, visibility, {.gates = gates, .weights = weights}).output;
        return (y * direction).tanh().sum();
      };
      const torch::Tensor gates = random_tensor({3, 3}, 17).requires_grad_();
      const torch::Tensor gradient = torch::autograd::grad({loss(gates)}, {gates})[0];
      const double step = 1e-5;
      for (int64_t b = 0; b < 3; ++b)
        for (int64_t h = 0; h < 3; ++h) {
          torch::Tensor up = gates.detach().clone(), down = gates.detach().clone();
          up[b][h] += step;
          down[b][h] -= step;
          const double expected = (loss(up) - loss(down)).item<double>() / (2 * step);
          CHECK(gradient[b][h].item<double>() == Approx(expected).epsilon(1e-6).margin(1e-9));
        }
    }
}

TEST_CASE("removing heads deletes their slices, keeps original ids and works again", "[model]") {
  const HeadLayout layout{.heads = 4, .groups = 4, .key_width = 3, .value_width = 2};
  const torch::Tensor x = random_tensor({2, 5, 7}, 18);
  const Visibility visibility(Pattern::full);
  Attention intact = random_attention(19, layout);
  Attention pruned = random_attention(19, layout);
  const auto gated = [&](const std::vector<float>& gates) {
    return attended(intact, x, visibility, {.gates = torch::tensor(gates)}).output;
  };
  pruned.remove_heads({1});
  CHECK(pruned.heads() == std::vector<int64_t>{0, 2, 3});
  CHECK(pruned.query().weight.sizes() == torch::IntArrayRef({9, 7}));
  CHECK(pruned.value().bias.sizes() == torch::IntArrayRef({6}));
  CHECK(pruned.output().weight.sizes() == torch::IntArrayRef({7, 6}));
  CHECK(max_difference(attended(pruned, x, visibility).output, gated({1, 0, 1, 1})) < 1e-12);
  pruned.remove_heads({1, 2, 77});
  CHECK(pruned.heads() == std::vector<int64_t>{0, 3});
  CHECK(max_difference(attended(pruned, x, visibility).output, gated({1, 0, 0, 1})) < 1e-12);
  pruned.remove_heads({0, 3});
  CHECK(pruned.heads().empty());
  for (const torch::Tensor& gates : {torch::Tensor(), torch::ones({0}), torch::ones({2, 0})})
    for (const bool weights : {false, true}) {
      const auto none = attended(pruned, x, visibility, {.gates = gates, .weights = weights});
      CHECK(torch::equal(none.output, pruned.output().bias.expand({2, 5, 7})));
      CHECK(none.context.sizes() == torch::IntArrayRef({2, 0, 5, 2}));
    }
  CHECK(max_difference(attended(pruned, x, visibility).output, gated({0, 0, 0, 0})) < 1e-12);
  pruned.remove_heads({0});
  CHECK(pruned.head_count() == 0);
}

TEST_CASE("a pruned attention module still trains", "[model]") {
  Attention attention = random_attention(20, kOdd);
  const torch::Tensor x = random_tensor({2, 4, 7}, 21);
  attended(attention, x, Visibility(Pattern::full)).output.sum().backward();
  attention.remove_heads({0});
  attended(attention, x, Visibility(Pattern::full)).output.sum().backward();
  for (const auto& entry : attention.named_parameters()) {
    INFO(entry.key());
    CHECK(entry.value().requires_grad());
    CHECK(entry.value().grad().sizes() == entry.value().sizes());
  }
  CHECK(attention.value().weight.grad().abs().max().item<double>() > 0);
}

}  // namespace
}  // namespace headprune
