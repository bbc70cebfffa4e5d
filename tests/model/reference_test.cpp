// The transformer against implementations that share no code with it: torch's own encoder layer, and numpy.
#include <torch/nn/modules/transformerlayer.h>

#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

/// 0.5 cos(k + i), as tests/model/golden_logits.py fills parameters.
void fill_with_cosines(Transformer& model) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> sorted;
  for (const auto& entry : model.named_parameters()) sorted[entry.key()] = entry.value();
  int64_t k = 0;
  for (auto& [name, parameter] : sorted) {
    const torch::Tensor i = torch::arange(parameter.numel(), torch::kFloat64);
    parameter.copy_((0.5 * (i + k).cos()).view(parameter.sizes()));
    ++k;
  }
}

TransformerConfig golden_config(Kind kind) {
  TransformerConfig config;
  config.architecture = kind == Kind::encoder ? Architecture::encoder : Architecture::decoder;
  config.d_model = 4;
  config.layers = 2;
  config.heads = 2;
  config.d_key = 3;
  config.d_value = 1;
  config.d_ff = 5;
  config.vocabulary_size = 6;
  config.max_length = 4;
  return config;
}

torch::Tensor literal(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64); }

TEST_CASE("a pre-norm decoder's logits equal numpy's", "[model]") {
  TransformerConfig config = golden_config(Kind::decoder);
  config.positions = Positions::sinusoidal;
  Transformer model(config);
  model.to(torch::kFloat64);
  model.eval();
  fill_with_cosines(model);
  const torch::Tensor expected =
      literal({0.094228045636, -0.334283570887, 0.342776601703, -0.113823907283, -0.193976059909, 0.367406335603,
               -0.132402610460, -0.225260477715, 0.426882759043, -0.332797906894, 0.008179698714, 0.322104691125,
               -0.044542529687, -0.094454521536, 0.168021720615, -0.125198130157, -0.004351802373, 0.130887185877})
          .view({3, 6});
  const Batch batch = batch_of({{2, 5, 1}, {2, 5}});
  for (const bool weights : {false, true}) {
    const torch::Tensor values = model.forward(batch, {.gates = {}, .weights = weights}).values;
    CHECK(max_difference(values[0], expected) < 1e-11);
    CHECK(max_difference(values[1].narrow(0, 0, 2), expected.narrow(0, 0, 2)) < 1e-11);
  }
}

TEST_CASE("a post-norm encoder's logits equal numpy's, with padding too", "[model]") {
  TransformerConfig config = golden_config(Kind::encoder);
  config.norm = NormOrder::post;
  config.activation = Activation::relu;
  config.pooling = Pooling::mean;
  config.outputs = 3;
  Transformer model(config);
  model.to(torch::kFloat64);
  model.eval();
  fill_with_cosines(model);
  const torch::Tensor values = model.forward(batch_of({{2, 5, 1}, {2, 5}})).values;
  CHECK(max_difference(values[0], literal({-0.429383667637, -0.937171438313, 0.575576304966})) < 1e-11);
  CHECK(max_difference(values[1], literal({-0.432737919169, -0.935591986523, 0.576865759324})) < 1e-11);
}

TEST_CASE("a post-norm block equals torch's own encoder layer", "[model]") {
  const int64_t C = 12, H = 3;
  LayerConfig config{
      .attention = {.d_model = C, .layout = {.heads = H, .groups = H, .key_width = C / H, .value_width = C / H}},
      .feed_forward = {.d_model = C, .d_ff = 20, .activation = Activation::gelu},
      .norm = {},
      .order = NormOrder::post};
  Block block(config);
  block.to(torch::kFloat64);
  block.eval();
  disturb(block, 50);
  config.pattern = causal_pattern();
  Block causal(config);
  causal.to(torch::kFloat64);
  causal.eval();
  disturb(causal, 50);
  torch::nn::TransformerEncoderLayer other(
      torch::nn::TransformerEncoderLayerOptions(C, H).dim_feedforward(20).dropout(0).activation(torch::kGELU));
  other->to(torch::kFloat64);
  other->eval();
  {
    const torch::NoGradGuard no_grad;
    Attention& own = block.attention();
    const auto parameters = block.named_parameters();
    other->self_attn->in_proj_weight.copy_(torch::cat({own.query().weight, own.key().weight, own.value().weight}));
    other->self_attn->in_proj_bias.copy_(torch::cat({own.query().bias, own.key().bias, own.value().bias}));
    other->self_attn->out_proj->weight.copy_(own.output().weight);
    other->self_attn->out_proj->bias.copy_(own.output().bias);
    other->linear1->weight.copy_(parameters["feed_forward.up.weight"]);
    other->linear1->bias.copy_(parameters["feed_forward.up.bias"]);
    other->linear2->weight.copy_(parameters["feed_forward.down.weight"]);
    other->linear2->bias.copy_(parameters["feed_forward.down.bias"]);
    other->norm1->weight.copy_(parameters["attention_norm.weight"]);
    other->norm1->bias.copy_(parameters["attention_norm.bias"]);
    other->norm2->weight.copy_(parameters["feed_forward_norm.weight"]);
    other->norm2->bias.copy_(parameters["feed_forward_norm.bias"]);
  }
  const torch::Tensor x = random_tensor({2, 5, C}, 51);
  const torch::Tensor present =
      torch::tensor({1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, torch::kInt64).view({2, 5}).to(torch::kBool);
  const torch::Tensor future = torch::ones({5, 5}, torch::kFloat64).triu(1) * -1e300;
  struct Case {
    bool causal, padded;
  };
  for (const Case one : {Case{false, false}, Case{false, true}, Case{true, false}}) {
    Block& own = one.causal ? causal : block;
    const torch::Tensor ours = own.finish(own.attend(x, one.padded ? present : torch::Tensor(), false), {});
    const torch::Tensor theirs = other
                                     ->forward(x.transpose(0, 1), one.causal ? future : torch::Tensor(),
                                               one.padded ? present.logical_not() : torch::Tensor())
                                     .transpose(0, 1);
    CHECK(max_difference(ours, theirs) < 1e-11);
  }
}

}  // namespace
}  // namespace headprune
