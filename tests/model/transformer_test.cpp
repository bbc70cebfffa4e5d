#include "model/transformer.h"

#include <cmath>

#include "core/error.h"
#include "model/cost.h"
#include "model/exact_difference.h"
#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

constexpr Kind kKinds[] = {Kind::encoder, Kind::decoder};
constexpr NormOrder kNorms[] = {NormOrder::pre, NormOrder::post};

/// Every configuration that changes the arithmetic.
std::vector<TransformerConfig> configurations() {
  std::vector<TransformerConfig> all;
  for (const Kind kind : kKinds)
    for (const NormOrder norm : kNorms) {
      TransformerConfig config = small_config(kind, norm);
      all.push_back(config);
      config.positions = Positions::sinusoidal;
      config.activation = Activation::relu;
      config.pooling = kind == Kind::encoder ? Pooling::mean : Pooling::cls;
      config.tie_embeddings = kind == Kind::encoder;
      all.push_back(config);
    }
  return all;
}

TEST_CASE("masked equals removed, for one head, many, a block and the whole model", "[model]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_batch();
  for (const TransformerConfig& config : configurations()) {
    const Kind kind = transformer_blocks(config).front().id.kind;
    const HeadSet sets[] = {head_set(kind, {{0, 1}}), head_set(kind, {{0, 0}, {1, 2}, {2, 0}, {2, 1}}),
                            head_set(kind, {{1, 0}, {1, 1}, {1, 2}}), HeadSet(all_heads(transformer_blocks(config)))};
    const auto intact = small_model(config);
    const torch::Tensor full = real_logits(*intact, batch);
    for (const HeadSet& removed : sets) check_masked_equals_removed(*intact, batch, removed, full);
  }
}

TEST_CASE("in float64 another order of sums is no difference, and another head is", "[model]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_batch();
  for (const TransformerConfig& config : configurations()) {
    const Kind kind = transformer_blocks(config).front().id.kind;
    const auto intact = small_model(config);
    const auto pruned = intact->copy(), other = intact->copy();
    pruned->remove_heads(head_set(kind, {{0, 1}, {1, 2}}));
    other->remove_heads(head_set(kind, {{0, 1}, {1, 1}}));
    const PerBlock gates = mask_gates(intact->blocks(), head_set(kind, {{0, 1}, {1, 2}}), torch::kCPU);
    const ExactDifference same = exact_difference(*intact, gates, *pruned, batch);
    CHECK(same.equal());
    CHECK(same.difference < 1e-12);
    CHECK_FALSE(exact_difference(*intact, gates, *other, batch).equal());
    // Copies are compared: the models stay what they were.
    CHECK(intact->parameters().front().scalar_type() == torch::kFloat32);
    torch::Tensor weight = pruned->parameters().back();
    weight.view(-1)[0] = NAN;
    CHECK_FALSE(exact_difference(*intact, gates, *pruned, batch).equal());
  }
}

TEST_CASE("heads can be removed step by step, by their original ids, down to none", "[model]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_batch();
  for (const TransformerConfig& config : configurations()) {
    const auto intact = small_model(config);
    const auto pruned = intact->copy();
    HeadSet removed;
    for (const HeadId& head : all_heads(intact->blocks())) {
      removed.insert(head);
      pruned->remove_heads(removed);
      const HeadProbe probe{.gates = mask_gates(intact->blocks(), removed, torch::kCPU)};
      CHECK(max_difference(real_logits(*intact, batch, probe), real_logits(*pruned, batch)) < 1e-5);
    }
    for (const BlockHeads& block : pruned->blocks()) CHECK(block.heads.empty());
    // No head is left anywhere: gates and probes of no heads are still fine.
    const HeadProbe none{.gates = mask_gates(pruned->blocks(), {}, torch::kCPU), .weights = true, .contexts = true};
    CHECK(max_difference(real_logits(*pruned, batch, none), real_logits(*pruned, batch)) < 1e-6);
  }
}

TEST_CASE("blocks are listed by layer with the original ids of the heads present", "[model]") {
  const auto model = small_model(small_config(Kind::decoder));
  model->remove_heads(head_set(Kind::decoder, {{1, 0}, {2, 0}, {2, 1}, {2, 2}}));
  const Blocks blocks = model->blocks();
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[1].id == BlockId{Kind::decoder, 1});
  CHECK(blocks[0].heads == std::vector<int64_t>{0, 1, 2});
  CHECK(blocks[1].heads == std::vector<int64_t>{1, 2});
  CHECK(blocks[2].heads.empty());
}

TEST_CASE("gates of an example act on that example alone", "[model]") {
  const torch::NoGradGuard no_grad;
  const std::vector<std::vector<int64_t>> rows = {{2, 5, 7, 4}, {2, 8, 3}, {2, 6}};
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_model(config);
    HeadProbe probe;
    for (uint64_t block = 0; block < 3; ++block) probe.gates.push_back(random_tensor({3, 3}, 40 + block));
    const torch::Tensor together = model->forward(batch_of(rows), probe).values;
    for (int64_t b = 0; b < 3; ++b) {
      const auto& row = rows[static_cast<size_t>(b)];
      HeadProbe own;
      for (const torch::Tensor& gates : probe.gates) own.gates.push_back(gates[b]);
      const torch::Tensor alone = model->forward(batch_of({row}), own).values[0];
      const torch::Tensor same = config.architecture == Architecture::encoder
                                     ? together[b]
                                     : together[b].narrow(0, 0, static_cast<int64_t>(row.size()));
      CHECK(max_difference(alone, same) < 1e-5);
    }
  }
}

TEST_CASE("logits do not depend on what else is in the batch", "[model]") {
  const torch::NoGradGuard no_grad;
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_model(config);
    const torch::Tensor alone = model->forward(batch_of({{2, 8, 3}})).values[0];
    for (const auto& other : std::vector<std::vector<int64_t>>{{2, 5}, {2, 9, 9, 9, 9, 9, 9, 9}, {7, 7, 7}}) {
      const torch::Tensor values = model->forward(batch_of({{2, 8, 3}, other})).values[0];
      CHECK(max_difference(alone, config.architecture == Architecture::encoder ? values : values.narrow(0, 0, 3)) <
            1e-5);
    }
  }
}

TEST_CASE("future tokens do not change a decoder's earlier logits, and do change an encoder's", "[model]") {
  const torch::NoGradGuard no_grad;
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_model(config);
    const torch::Tensor a = model->forward(batch_of({{2, 5, 7, 4, 9}})).values[0];
    const torch::Tensor b = model->forward(batch_of({{2, 5, 7, 8, 1}})).values[0];
    if (config.architecture == Architecture::encoder) {
      CHECK(max_difference(a, b) > 1e-3);
    } else {
      CHECK(max_difference(a.narrow(0, 0, 3), b.narrow(0, 0, 3)) < 1e-6);
      CHECK(max_difference(a.narrow(0, 3, 2), b.narrow(0, 3, 2)) > 1e-3);
    }
  }
}

TEST_CASE("asking for weights or contexts does not change logits", "[model]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_batch();
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_model(config);
    const HeadProbe probe{.gates = {}, .weights = true, .contexts = true};
    const ModelOutput seen = model->forward(batch, probe);
    CHECK(max_difference(real_logits(*model, batch, probe), real_logits(*model, batch)) < 1e-5);
    REQUIRE(seen.heads.weights.size() == 3);
    REQUIRE(seen.heads.contexts.size() == 3);
    CHECK(seen.heads.weights[2].sizes() == torch::IntArrayRef({3, 3, 6, 6}));
    CHECK(seen.heads.contexts[2].sizes() == torch::IntArrayRef({3, 3, 6, 2}));
    CHECK(model->forward(batch).heads.weights.empty());
    CHECK(model->forward(batch).heads.contexts.empty());
  }
}

TEST_CASE("the order of heads within a block does not matter", "[model]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_batch();
  for (const Kind kind : kKinds) {
    const auto model = small_model(small_config(kind));
    const torch::Tensor before = real_logits(*model, batch);
    const torch::Tensor order = torch::tensor({2, 0, 1}, torch::kInt64);
    Attention& attention = model->attention(1);
    for (Projection* projection : {&attention.query(), &attention.key(), &attention.value()}) {
      projection->weight.copy_(projection->weight.view({3, -1, 12}).index_select(0, order).flatten(0, 1));
      projection->bias.copy_(projection->bias.view({3, -1}).index_select(0, order).flatten());
    }
    torch::Tensor output = attention.output().weight;
    CHECK(max_difference(before, real_logits(*model, batch)) > 1e-3);
    output.copy_(output.view({12, 3, 2}).index_select(1, order).flatten(1));
    CHECK(max_difference(before, real_logits(*model, batch)) < 1e-5);
  }
}

TEST_CASE("a gate's gradient is the sum of context times context gradient, on a frozen model too", "[model]") {
  const Batch batch = small_batch();
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_model(config);
    model->to(torch::kFloat64);
    const FrozenModel frozen(*model);
    HeadProbe probe{.gates = {}, .weights = false, .contexts = true};
    for (int i = 0; i < 3; ++i) probe.gates.push_back(torch::ones({3, 3}, torch::kFloat64).requires_grad_());
    const ModelOutput output = model->forward(batch, probe);
    const torch::Tensor values =
        config.architecture == Architecture::encoder ? output.values : output.values.index({batch.present});
    const torch::Tensor loss = values.sin().sum();
    const auto gates = torch::autograd::grad({loss}, probe.gates, {}, /*retain_graph=*/true);
    const auto contexts = torch::autograd::grad({loss}, output.heads.contexts);
    for (size_t block = 0; block < 3; ++block) {
      const torch::Tensor expected = (contexts[block] * output.heads.contexts[block]).sum({2, 3});
      CHECK(max_difference(gates[block], expected) < 1e-10);
      CHECK(gates[block].abs().min().item<double>() > 0);
    }
  }
}

TEST_CASE("contexts have gradients on a frozen model without gates", "[model]") {
  const auto model = small_model(small_config(Kind::encoder));
  const FrozenModel frozen(*model);
  const ModelOutput output = model->forward(small_batch(), {.gates = {}, .weights = false, .contexts = true});
  const auto gradients = torch::autograd::grad({output.values.sum()}, output.heads.contexts);
  for (const torch::Tensor& gradient : gradients) CHECK(gradient.abs().max().item<double>() > 0);
}

TEST_CASE("a frozen model is in evaluation mode, and restored afterwards on a throw too", "[model]") {
  const auto model = small_model(small_config(Kind::encoder));
  model->train();
  model->attention(0).query().weight.set_requires_grad(false);
  try {
    const FrozenModel frozen(*model);
    CHECK_FALSE(model->is_training());
    for (const torch::Tensor& parameter : model->parameters()) CHECK_FALSE(parameter.requires_grad());
    throw std::runtime_error("as a score might");
  } catch (const std::runtime_error&) {
  }
  CHECK(model->is_training());
  CHECK(model->attention(0).is_training());
  for (const auto& entry : model->named_parameters())
    CHECK(entry.value().requires_grad() == (entry.key() != "blocks.0.attention.query.weight"));
}

TEST_CASE("weights begin with the stated variances", "[model]") {
  TransformerConfig config = small_config(Kind::encoder);
  config.d_model = 96;
  config.d_key = 40;
  config.d_ff = 300;
  config.vocabulary_size = 500;
  config.max_length = 200;
  config.outputs = 50;
  Transformer model(config);
  initialise(model, 7);
  for (const auto& entry : model.named_parameters()) {
    const std::string& name = entry.key();
    const torch::Tensor values = entry.value().detach().to(torch::kFloat64);
    INFO(name);
    if (name.find("norm.weight") != std::string::npos) {
      CHECK(values.eq(1).all().item<bool>());
    } else if (name.ends_with("bias")) {
      CHECK(values.eq(0).all().item<bool>());
    } else {
      const bool embedding = name.starts_with("embeddings.");
      const double variance = embedding ? 1.0 / 96 : 2.0 / static_cast<double>(values.size(0) + values.size(1));
      const auto n = static_cast<double>(values.numel());
      // Four standard errors of the mean, and of the variance: kurtosis 3 of the normal, 1.8 of the uniform.
      CHECK(std::abs(values.mean().item<double>()) < 4 * std::sqrt(variance / n));
      CHECK(std::abs(values.var().item<double>() / variance - 1) < 4 * std::sqrt((embedding ? 2.0 : 0.8) / n));
      if (!embedding) CHECK(values.abs().max().item<double>() <= std::sqrt(3 * variance));
    }
  }
}

TEST_CASE("the same seed gives the same bytes, and no other random stream is touched", "[model]") {
  const TransformerConfig config = small_config(Kind::decoder);
  at::manual_seed(5);
  Transformer a(config), b(config), c(config);
  initialise(a, 3);
  initialise(b, 3);
  initialise(c, 4);
  const torch::Tensor after = torch::rand({3});
  at::manual_seed(5);
  CHECK(torch::equal(after, torch::rand({3})));
  const auto pa = a.parameters(), pb = b.parameters();
  for (size_t i = 0; i < pa.size(); ++i) CHECK(torch::equal(pa[i], pb[i]));
  CHECK_FALSE(torch::equal(a.attention(0).query().weight, c.attention(0).query().weight));
  CHECK_FALSE(torch::equal(a.attention(0).query().weight, a.attention(1).query().weight));
  CHECK_FALSE(torch::equal(a.attention(0).query().weight, a.attention(0).key().weight));
}

TEST_CASE("dropout acts in training only", "[model]") {
  TransformerConfig config = small_config(Kind::encoder);
  config.dropout = 0.5;
  const auto model = small_model(config);
  const Batch batch = small_batch();
  CHECK(torch::equal(real_logits(*model, batch), real_logits(*model, batch)));
  model->train();
  at::manual_seed(1);
  const torch::Tensor first = real_logits(*model, batch);
  CHECK_FALSE(torch::equal(first, real_logits(*model, batch)));
  at::manual_seed(1);
  CHECK(torch::equal(first, real_logits(*model, batch)));
}

TEST_CASE("a copy is independent and equal, pruned heads, type and mode included", "[model]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_batch();
  const auto model = small_model(small_config(Kind::encoder));
  model->remove_heads(head_set(Kind::encoder, {{0, 0}, {2, 2}}));
  model->to(torch::kFloat64);
  const torch::Tensor before = real_logits(*model, batch);
  const auto copy = model->copy();
  CHECK_FALSE(copy->is_training());
  CHECK(torch::equal(before, real_logits(*copy, batch)));
  copy->remove_heads(head_set(Kind::encoder, {{0, 1}}));
  for (torch::Tensor& parameter : copy->parameters()) parameter.add_(1);
  CHECK(torch::equal(before, real_logits(*model, batch)));
  CHECK(model->attention(0).heads() == std::vector<int64_t>{1, 2});
  CHECK(copy->attention(0).heads() == std::vector<int64_t>{2});
}

TEST_CASE("parameters and multiply-adds are counted as the formulas say", "[model]") {
  for (const TransformerConfig& config : configurations()) {
    Transformer model(config);
    const int64_t intact = parameter_count(model);
    CHECK(intact == intact_parameters(config));
    // 9 heads: projections 2 C (2 Dk + 2 Dv) = 2 x 12 x 14, products 2 T (Dk + Dv) = 2 x 10 x 7.
    CHECK(model_cost(model, {}, {10}).attention_flops_per_token == 9 * (336 + 140));
    model.remove_heads(head_set(transformer_blocks(config).front().id.kind, {{0, 0}, {1, 1}}));
    CHECK(model_cost(model, {}, {10}).attention_flops_per_token == 7 * (336 + 140));
    // A head's share: Dk rows of q and k, Dv of v, each with its bias, and Dv columns of the output projection.
    CHECK(parameter_count(model) == intact - 2 * (2 * 5 * 13 + 2 * 13 + 12 * 2));
  }
}

TEST_CASE("the cost without some heads is the cost after their removal", "[model]") {
  for (const Kind kind : kKinds) {
    Transformer model(small_config(kind));
    model.remove_heads(head_set(kind, {{2, 1}}));
    const HeadSet removed = head_set(kind, {{0, 0}, {1, 0}, {1, 1}, {1, 2}, {2, 1}});
    const ModelCost expected = model_cost(model, removed, {10});
    model.remove_heads(removed);
    CHECK(expected.params == parameter_count(model));
    CHECK(expected.attention_flops_per_token == model_cost(model, {}, {10}).attention_flops_per_token);
    CHECK(model_cost(model, {}, {10}).params == parameter_count(model));
  }
}

TEST_CASE("mask gates are 0 for removed heads and follow the heads present", "[model]") {
  const auto model = small_model(small_config(Kind::encoder));
  model->remove_heads(head_set(Kind::encoder, {{0, 0}, {1, 0}, {1, 1}, {1, 2}}));
  const PerBlock gates = mask_gates(model->blocks(), head_set(Kind::encoder, {{0, 2}, {1, 1}}), torch::kCPU);
  CHECK(torch::equal(gates[0], torch::tensor({1.0f, 0.0f})));
  CHECK_FALSE(gates[1].defined());
  CHECK_FALSE(gates[2].defined());
  CHECK(gates[0].scalar_type() == torch::kFloat32);
}

TEST_CASE("sinusoidal positions are those of the paper", "[model]") {
  const torch::Tensor positions = sinusoidal_positions(3, 5, torch::kFloat64);
  REQUIRE(positions.sizes() == torch::IntArrayRef({3, 5}));
  CHECK(positions[0][0].item<double>() == 0);
  CHECK(positions[0][1].item<double>() == 1);
  CHECK(positions[2][0].item<double>() == Approx(std::sin(2.0)));
  CHECK(positions[2][3].item<double>() == Approx(std::cos(2.0 / std::pow(10000.0, 2.0 / 5))));
  CHECK(positions[1][4].item<double>() == Approx(std::sin(1.0 / std::pow(10000.0, 4.0 / 5))));
}

TEST_CASE("a sequence longer than the learned positions is refused, sinusoidal ones have no limit", "[model]") {
  const Batch batch = batch_of({std::vector<int64_t>(10, 3)});
  TransformerConfig config = small_config(Kind::decoder);
  CHECK_THROWS_WITH(small_model(config)->forward(batch), ContainsSubstring("9 learned positions"));
  config.positions = Positions::sinusoidal;
  CHECK(small_model(config)->forward(batch).values.size(1) == 10);
}

}  // namespace
}  // namespace headprune
