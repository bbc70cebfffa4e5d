// Attention against other implementations: transformers' modules and numpy after the papers
// (tests/golden/make_attention.py, whose wave() makes the same weights).
#include "core/open_file.h"
#include "model/alibi.h"
#include "model/attention.h"
#include "model/local_pattern.h"
#include "model/make_positions.h"
#include "model/sparse_patterns.h"
#include "model/support.h"
#include "model/t5_bias.h"

namespace headprune {
namespace {

using namespace testing;

constexpr int64_t kWidth = 24, kHeads = 3, kHeadWidth = 8;

const Json& attention_golden() {
  static const Json json = read_json(fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/attention.json");
  return json;
}

torch::Tensor wave(const std::vector<int64_t>& shape, double phase, double size = 0.4) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  const torch::Tensor x = torch::arange(count, torch::kFloat64).square() * 0.37 + phase;
  return (size * x.cos()).view(shape);
}

torch::Tensor matrix_of(const Json& rows) {
  std::vector<torch::Tensor> all;
  for (const Json& row : rows) all.push_back(torch::tensor(row.get<std::vector<double>>(), torch::kFloat64));
  return torch::stack(all);
}

struct GoldenCase {
  std::string name;
  TransformerConfig config;                        // of its positions
  std::map<std::string, torch::Tensor> positions;  // parameters
  std::shared_ptr<const Pattern> pattern = full_pattern();
  double tolerance = 1e-7;  // 1e-5 where the reference, or the angles of rotary positions, are float32
};

TransformerConfig with_positions(Positions positions) {
  TransformerConfig config;
  config.d_model = kWidth;
  config.heads = kHeads;
  config.d_key = config.d_value = kHeadWidth;
  config.positions = positions;
  return config;
}

TransformerConfig golden_rope(RotaryPairs pairs, double fraction, double theta) {
  TransformerConfig config = with_positions(Positions::rotary);
  config.rope_pairs = pairs;
  config.rope_fraction = fraction;
  config.rope_theta = theta;
  return config;
}

TransformerConfig golden_shaw(bool values) {
  TransformerConfig config = with_positions(Positions::shaw);
  config.shaw_max_distance = 3;
  config.shaw_values = values;
  return config;
}

TransformerConfig small_t5() {
  TransformerConfig config = with_positions(Positions::t5);
  config.t5_buckets = 8;
  config.t5_max_distance = 20;
  return config;
}

std::vector<GoldenCase> golden_cases() {
  const std::map<std::string, torch::Tensor> t5 = {{"table", wave({8, kHeads}, 9, 2)}};
  const std::map<std::string, torch::Tensor> xl = {{"projection", wave({kWidth, kWidth}, 9)},
                                                   {"content_bias", wave({kHeads, kHeadWidth}, 10)},
                                                   {"position_bias", wave({kHeads, kHeadWidth}, 11)}};
  const std::map<std::string, torch::Tensor> keys = {{"keys", wave({7, kHeadWidth}, 9)}};
  std::map<std::string, torch::Tensor> both = keys;
  both["values"] = wave({7, kHeadWidth}, 10);
  return {
      {"rope_neighbours", golden_rope(RotaryPairs::neighbours, 0.5, 10000), {}, causal_pattern(), 1e-5},
      {"rope_halves", golden_rope(RotaryPairs::halves, 0.5, 100), {}, causal_pattern(), 1e-5},
      {"rope_encoder", golden_rope(RotaryPairs::neighbours, 1, 10000), {}, full_pattern(), 1e-5},
      {"alibi", with_positions(Positions::alibi), {}, causal_pattern()},
      {"t5_encoder", small_t5(), t5},
      {"t5_decoder", small_t5(), t5, causal_pattern()},
      {"transformer_xl_decoder", with_positions(Positions::transformer_xl), xl, causal_pattern(), 1e-5},
      {"transformer_xl_encoder", with_positions(Positions::transformer_xl), xl},
      {"shaw_encoder", golden_shaw(true), both},
      {"shaw_decoder", golden_shaw(true), both, causal_pattern()},
      {"shaw_keys", golden_shaw(false), keys},
      {"local_decoder", golden_rope(RotaryPairs::halves, 1, 100), {}, local_pattern({.back = 4, .ahead = 0}), 1e-5}};
}

std::shared_ptr<Attention> golden_attention(const GoldenCase& one, torch::ScalarType type = torch::kFloat64) {
  const torch::NoGradGuard no_grad;
  const Kind kind = one.pattern == full_pattern() ? Kind::encoder : Kind::decoder;
  const auto positions = make_attention_positions(one.config, kind);
  const auto attention = std::make_shared<Attention>(AttentionConfig{.d_model = kWidth,
                                                                     .layout = one.config.layout(),
                                                                     .bias = false,
                                                                     .output_bias = false,
                                                                     .positions = positions,
                                                                     .own_positions = true});
  attention->to(torch::kFloat64);
  double phase = 1;
  for (Projection* part : {&attention->query(), &attention->key(), &attention->value(), &attention->output()})
    part->weight.copy_(wave({kWidth, kWidth}, phase++));
  for (const auto& [name, values] : one.positions) attention->named_parameters()["positions." + name].copy_(values);
  CHECK(attention->parameters().size() == 4 + one.positions.size());
  attention->to(type);
  attention->eval();
  return attention;
}

TEST_CASE("attention agrees with transformers' modules and with the papers, heads masked and removed too",
          "[model][positions]") {
  const torch::NoGradGuard no_grad;
  const auto removed = attention_golden()["removed"].get<std::vector<int64_t>>();
  for (const GoldenCase& one : golden_cases())
    for (const auto type : {torch::kFloat64, torch::kFloat32}) {
      INFO(one.name << (type == torch::kFloat32 ? " in float32" : ""));
      const double tolerance = type == torch::kFloat32 ? 1e-5 : one.tolerance;
      const Json& expected = attention_golden()["cases"][one.name];
      const torch::Tensor output = matrix_of(expected["output"]), masked = matrix_of(expected["masked"]);
      CHECK(max_difference(output, masked) > 0.05);
      const auto attention = golden_attention(one, type), pruned = golden_attention(one, type);
      const torch::Tensor x = wave({1, output.size(0), kWidth}, 20).to(type);
      torch::Tensor gates = torch::ones({kHeads}, type);
      for (const int64_t head : removed) gates[head] = 0;
      pruned->remove_heads(removed);
      for (const bool weights : {false, true}) {
        INFO((weights ? "explicit" : "fused"));
        const Visibility visible(one.pattern);
        const auto of = [&](Attention& block, const torch::Tensor& with) {
          return block.combine(block.attend(x, x, visible, weights).context, with)[0].to(torch::kFloat64);
        };
        CHECK(max_difference(of(*attention, {}), output) < tolerance);
        CHECK(max_difference(of(*attention, gates), masked) < tolerance);
        CHECK(max_difference(of(*pruned, {}), masked) < tolerance);
      }
    }
}

TEST_CASE("distances fall into the buckets of transformers' T5", "[model][positions]") {
  for (const bool causal : {false, true}) {
    const auto expected = attention_golden()["buckets"][causal ? "decoder" : "encoder"].get<std::vector<int64_t>>();
    const int64_t far = std::ssize(expected) / 2;
    const torch::Tensor buckets =
        t5_buckets(torch::arange(-far, far + 1), {.heads = 1, .buckets = 32, .max_distance = 128, .causal = causal});
    CHECK(torch::equal(buckets, torch::tensor(expected, torch::kInt64)));
  }
}

TEST_CASE("slopes are those of Bloom and MPT, for any number of heads", "[model][positions]") {
  for (const auto& [heads, expected] : attention_golden()["slopes"].items()) {
    const std::vector<double> slopes = alibi_slopes(std::stoll(heads));
    REQUIRE(slopes.size() == expected.size());
    for (size_t h = 0; h < slopes.size(); ++h) CHECK(slopes[h] == Approx(expected[h].get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("a query sees the keys that the papers say", "[model][pattern]") {
  const PatternPlace decoder{.causal = true, .heads = 2};
  const std::pair<const char*, std::shared_ptr<const Pattern>> alone[] = {
      {"local_4", make_pattern(LocalOptions{.window = 4}, decoder)},
      {"strided_local", strided_pattern({.stride = 4, .heads = {StridedHead::local}}, decoder)},
      {"strided_strided", strided_pattern({.stride = 4, .heads = {StridedHead::strided}}, decoder)},
      {"fixed_block", fixed_pattern({.stride = 4, .summary = 2, .heads = {FixedHead::block}}, decoder)},
      {"fixed_summary", fixed_pattern({.stride = 4, .summary = 2, .heads = {FixedHead::summary}}, decoder)}};
  for (const auto& [name, pattern] : alone) {
    INFO(name);
    const torch::Tensor expected = matrix_of(attention_golden()["visible"][name]).to(torch::kBool);
    const int64_t T = expected.size(0);
    CHECK_FALSE(pattern->by_head());
    CHECK(torch::equal(pattern->visible({.queries = T, .keys = T}, torch::kCPU), expected));
    CHECK(torch::equal(pattern->visible({.queries = 3, .keys = T, .offset = T - 3}, torch::kCPU),
                       expected.narrow(0, T - 3, 3)));
    CHECK(pattern->most_keys(T, 0) == expected.sum(1).max().item<int64_t>());
  }
  const auto both = strided_pattern({.stride = 4}, decoder);
  const torch::Tensor seen = both->visible({.queries = 11, .keys = 11}, torch::kCPU);
  CHECK(both->by_head());
  CHECK(torch::equal(seen[0], matrix_of(attention_golden()["visible"]["strided_local"]).to(torch::kBool)));
  CHECK(torch::equal(seen[1], matrix_of(attention_golden()["visible"]["strided_strided"]).to(torch::kBool)));
}

}  // namespace
}  // namespace headprune
