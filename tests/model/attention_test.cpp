#include "model/attention.h"

#include <cmath>

#include "model/local_pattern.h"
#include "model/rotary.h"
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
  Attention attention({.d_model = d_model, .layout = layout});
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

using PatternPtr = std::shared_ptr<const Pattern>;

const HeadLayout kOdd{.heads = 3, .groups = 3, .key_width = 5, .value_width = 2};
const HeadLayout kEqual{.heads = 2, .groups = 2, .key_width = 4, .value_width = 4};
const HeadLayout kGrouped{.heads = 6, .groups = 2, .key_width = 4, .value_width = 2};

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
  const Case cases[] = {{Visibility(full_pattern()), matrix({{3, 4}, {3, 4}, {3, 4}})},
                        {Visibility(causal_pattern()), matrix({{1, 0}, {2, 1}, {3, 4}})},
                        {Visibility(full_pattern(), two_keys), matrix({{2, 1}, {2, 1}, {2, 1}})},
                        {Visibility(causal_pattern(), two_keys), matrix({{1, 0}, {2, 1}, {2, 1}})}};
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
  const auto seen = attended(attention, x, Visibility(full_pattern()), {.gates = {}, .weights = true});
  CHECK(max_difference(seen.weights[0][0], matrix({{2.0 / 3, 1.0 / 3}, {2.0 / 3, 1.0 / 3}})) < 1e-12);
  CHECK(max_difference(seen.context[0][0], matrix({{6}, {6}})) < 1e-12);
  CHECK(max_difference(seen.output[0], matrix({{6.5}, {6.5}})) < 1e-12);
  const auto fused = attended(attention, x, Visibility(full_pattern()));
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
  const auto result = attended(attention, x, Visibility(full_pattern()), {.gates = {}, .weights = true});
  CHECK(max_difference(result.weights[0][0], matrix({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}})) < 1e-12);
  CHECK(max_difference(result.weights[0][1], one) < 1e-12);
  CHECK(max_difference(result.output[0], matrix({{10, 1, 0}, {0, 10, 1}, {1, 0, 10}})) < 1e-12);
}

TEST_CASE("fused and explicit attention give the same numbers", "[model]") {
  for (const HeadLayout& layout : {kOdd, kEqual, kGrouped})
    for (const PatternPtr& pattern : {full_pattern(), causal_pattern(), local_pattern({.back = 2 - 1, .ahead = 0})})
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
  for (const PatternPtr& pattern : {full_pattern(), causal_pattern()}) {
    const Visibility visibility(pattern, keys);
    const torch::Tensor weights = attended(attention, x, visibility, {.gates = {}, .weights = true}).weights;
    CHECK(max_difference(weights.sum(-1), torch::ones({3, 3, 4}, torch::kFloat64)) < 1e-12);
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t t = 0; t < 4; ++t)
        for (int64_t s = 0; s < 4; ++s) {
          const bool visible = keys[b][s].item<bool>() && (pattern == full_pattern() || s <= t);
          CHECK((weights[b][0][t][s].item<double>() > 0) == visible);
        }
  }
}

TEST_CASE("a query that sees no key has the context 0, not NaN", "[model]") {
  Attention attention = random_attention(7, kOdd);
  const torch::Tensor x = random_tensor({2, 3, 7}, 8);
  const torch::Tensor keys = torch::tensor({1, 1, 1, 0, 0, 0}, torch::kInt64).view({2, 3}).to(torch::kBool);
  for (const bool weights : {false, true}) {
    const auto result = attended(attention, x, Visibility(full_pattern(), keys), {.gates = {}, .weights = weights});
    CHECK(result.context[1].abs().max().item<double>() == 0.0);
    CHECK(result.output.isfinite().all().item<bool>());
  }
}

TEST_CASE("a gate of 0 equals zeroing the head's columns of the output projection", "[model]") {
  Attention attention = random_attention(9, kOdd);
  const torch::Tensor x = random_tensor({2, 4, 7}, 10);
  const Visibility visibility(full_pattern());
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
  const Visibility visibility(causal_pattern());
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
    for (const PatternPtr& pattern : {full_pattern(), causal_pattern()}) {
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
  const Visibility visibility(full_pattern());
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
  attended(attention, x, Visibility(full_pattern())).output.sum().backward();
  attention.remove_heads({0});
  attended(attention, x, Visibility(full_pattern())).output.sum().backward();
  for (const auto& entry : attention.named_parameters()) {
    INFO(entry.key());
    CHECK(entry.value().requires_grad());
    CHECK(entry.value().grad().sizes() == entry.value().sizes());
  }
  CHECK(attention.value().weight.grad().abs().max().item<double>() > 0);
}

TEST_CASE("a head reads the keys and values of its group, which go with their last head", "[model][groups]") {
  const torch::Tensor x = random_tensor({2, 5, 7}, 30);
  const Visibility visibility(causal_pattern());
  // The same block with keys and values of its own for every head: head h has a copy of those of group h div 3.
  Attention grouped = random_attention(31, kGrouped), whole = zero_attention(7, {6, 6, 4, 2});
  {
    const torch::NoGradGuard no_grad;
    for (const auto& [to, from] :
         {std::pair(&whole.query(), &grouped.query()), std::pair(&whole.output(), &grouped.output())}) {
      to->weight.copy_(from->weight);
      to->bias.copy_(from->bias);
    }
    for (const auto& [to, from, width] :
         {std::tuple(&whole.key(), &grouped.key(), 4), std::tuple(&whole.value(), &grouped.value(), 2)})
      for (int64_t head = 0; head < 6; ++head) {
        to->weight.narrow(0, head * width, width).copy_(from->weight.narrow(0, head / 3 * width, width));
        to->bias.narrow(0, head * width, width).copy_(from->bias.narrow(0, head / 3 * width, width));
      }
  }
  CHECK(max_difference(attended(grouped, x, visibility).output, attended(whole, x, visibility).output) < 1e-12);
  const auto gated = [&](const std::vector<float>& gates) {
    return attended(whole, x, visibility, {.gates = torch::tensor(gates)}).output;
  };
  grouped.remove_heads({0, 4});  // groups of two heads each: uneven in what they were
  CHECK(grouped.groups() == std::vector<int64_t>{0, 1});
  CHECK(grouped.key().weight.size(0) == 8);
  CHECK(max_difference(attended(grouped, x, visibility).output, gated({0, 1, 1, 1, 0, 1})) < 1e-12);
  grouped.remove_heads({1, 2});  // the first group has no head left
  CHECK(grouped.groups() == std::vector<int64_t>{1});
  CHECK(grouped.key().weight.size(0) == 4);
  CHECK(grouped.value().bias.size(0) == 2);
  CHECK(max_difference(attended(grouped, x, visibility).output, gated({0, 0, 0, 1, 0, 1})) < 1e-12);
  const auto seen = attended(grouped, x, visibility, {.gates = {}, .weights = true});
  CHECK(max_difference(seen.output, attended(grouped, x, visibility).output) < 1e-12);
  grouped.remove_heads({3, 5});
  CHECK((grouped.groups().empty() && grouped.key().weight.numel() == 0));
  CHECK(max_difference(attended(grouped, x, visibility).output, gated({0, 0, 0, 0, 0, 0})) < 1e-12);
}

TEST_CASE("a group's keys and values cost once, and until its last head goes", "[model][groups]") {
  Attention attention = random_attention(32, kGrouped);
  // Queries 6 x 4 and outputs 6 x 2 a head; keys 4 and values 2 a group: C = 7 of each, and biases but the output's.
  const AttentionCost all = attention.cost(10), less = attention.cost(10, {0, 1}), none = attention.cost(10, {0, 1, 2});
  CHECK(all.params == 7 * (6 * 4 + 2 * 4 + 2 * 2 + 6 * 2) + 6 * 4 + 2 * 4 + 2 * 2);
  CHECK(all.flops_per_token == 2 * 7 * (24 + 8 + 4 + 12) + 2 * 10 * 6 * 6);
  CHECK(all.params - less.params == 2 * (7 * (4 + 2) + 4));
  CHECK(less.params - none.params == 7 * (4 + 2) + 4 + 7 * (4 + 2) + 4 + 2);
  attention.remove_heads({0, 1, 2});
  CHECK(attention.cost(10).params == none.params);
  CHECK(attention.cost(10).flops_per_token == none.flops_per_token);
}

TEST_CASE("a window shows the last keys, also to queries that stand further on", "[model][pattern]") {
  const auto visible = [](const Extent& extent) {
    return local_pattern({.back = 3 - 1, .ahead = 0})->visible(extent, torch::kCPU);
  };
  const torch::Tensor whole = visible({.queries = 5, .keys = 5});
  for (int64_t q = 0; q < 5; ++q)
    for (int64_t k = 0; k < 5; ++k) CHECK(whole[q][k].item<bool>() == (k <= q && k > q - 3));
  CHECK(torch::equal(visible({.queries = 2, .keys = 5, .offset = 3}), whole.narrow(0, 3, 2)));
  CHECK(local_pattern({.back = 5 - 1, .ahead = 0})->fused_causal({.queries = 5, .keys = 5}));
  CHECK_FALSE(local_pattern({.back = 4 - 1, .ahead = 0})->fused_causal({.queries = 5, .keys = 5}));
  CHECK(torch::equal(causal_pattern()->visible({.queries = 2, .keys = 5, .offset = 3}, torch::kCPU),
                     causal_pattern()->visible({.queries = 5, .keys = 5}, torch::kCPU).narrow(0, 3, 2)));
}

TEST_CASE("rotary positions leave only distances in products", "[model][rotary]") {
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::neighbours}) {
    const Rotary rotary({.width = 6, .theta = 50, .pairs = pairs});
    const torch::Tensor q = random_tensor({1, 1, 1, 8}, 40), k = random_tensor({1, 1, 1, 8}, 41);
    const auto product = [&](int64_t query, int64_t key) {
      return (rotary.turn(q, query) * rotary.turn(k, key)).sum().item<double>();
    };
    CHECK(product(7, 3) == Approx(product(14, 10)).epsilon(1e-5));
    CHECK(product(0, 0) == Approx((q * k).sum().item<double>()).epsilon(1e-6));
    CHECK(std::abs(product(7, 3) - product(7, 4)) > 1e-3);
    // The last two numbers are not turned; the first pair turns by one radian a position.
    const torch::Tensor turned = rotary.turn(q, 5);
    CHECK(torch::equal(turned.narrow(3, 6, 2), q.narrow(3, 6, 2)));
    const int64_t other = pairs == RotaryPairs::halves ? 3 : 1;
    const double a = q[0][0][0][0].item<double>(), b = q[0][0][0][other].item<double>();
    CHECK(turned[0][0][0][0].item<double>() == Approx(a * std::cos(5) - b * std::sin(5)).epsilon(1e-6));
    CHECK(turned[0][0][0][other].item<double>() == Approx(b * std::cos(5) + a * std::sin(5)).epsilon(1e-6));
  }
}

TEST_CASE("frequencies are scaled as llama3 and linear say", "[model][rotary]") {
  RotaryConfig config{.width = 8, .theta = 10000};
  const torch::Tensor plain = rotary_frequencies(config);
  for (int64_t i = 0; i < 4; ++i)
    CHECK(plain[i].item<double>() == Approx(std::pow(10000.0, -2.0 * static_cast<double>(i) / 8)).epsilon(1e-6));
  config.scaling = RotaryScaling::linear;
  config.factor = 4;
  CHECK(torch::allclose(rotary_frequencies(config) * 4, plain));
  config.scaling = RotaryScaling::llama3;
  config.original_length = 512;  // wavelengths 6.3, 63, 628 and 6283 against 128 (kept) and 512 (divided)
  config.low_frequency_factor = 1;
  config.high_frequency_factor = 4;
  torch::Tensor scaled = rotary_frequencies(config);
  CHECK(torch::equal(scaled.narrow(0, 0, 2), plain.narrow(0, 0, 2)));
  CHECK(torch::equal(scaled.narrow(0, 2, 2), plain.narrow(0, 2, 2) / 4));
  config.original_length = 1000;  // 628 between 250 and 1000: a share (1000 / 628.3 - 1) / 3 is kept
  scaled = rotary_frequencies(config);
  const double share = (1000 / (2 * 3.14159265358979 * 100) - 1) / 3;
  CHECK(scaled[2].item<double>() == Approx(0.01 * (share + (1 - share) / 4)).epsilon(1e-5));
}

TEST_CASE("RMS norm divides by the root of the mean square", "[model]") {
  Norm norm(3, {.type = NormType::rms, .eps = 0.5});
  norm.to(torch::kFloat64);
  CHECK(norm.parameters().size() == 1);
  const torch::Tensor x = matrix({{1, 2, 2}});
  CHECK(max_difference(norm.forward(x), x / std::sqrt(3.5)) < 1e-12);
}

TEST_CASE("a gated feed-forward part multiplies what goes up", "[model]") {
  FeedForward part(
      {.d_model = 2, .d_ff = 3, .type = FeedForwardType::gated, .activation = Activation::relu, .bias = false});
  part.to(torch::kFloat64);
  CHECK(part.parameters().size() == 3);
  auto named = part.named_parameters();
  assign(named["gate.weight"], matrix({{1, 0}, {0, 1}, {-1, 0}}));
  assign(named["up.weight"], matrix({{2, 0}, {0, 3}, {1, 1}}));
  assign(named["down.weight"], matrix({{1, 0, 0}, {0, 1, 1}}));
  // x = (5, 7): gates 5, 7 and 0; up 10, 21, 12.
  CHECK(max_difference(part.forward(matrix({{5, 7}})), matrix({{50, 147}})) < 1e-12);
}

}  // namespace
}  // namespace headprune
