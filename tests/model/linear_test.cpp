#include "model/linear.h"

#include <limits>

#include "model/private_operators.h"
#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

torch::Tensor float_tensor(const std::vector<int64_t>& shape, uint64_t seed) {
  return random_tensor(shape, seed).to(torch::kFloat32);
}

TEST_CASE("both libraries give the same product and gradients, and only those that are wanted", "[model]") {
  if (!at::globalContext().hasMKLDNN()) {
    WARN("this LibTorch has no oneDNN");
    return;
  }
  struct Case {
    std::vector<int64_t> shape;
    int64_t outputs;
    bool strided;
  };
  for (const Case& one : {Case{{6, 5}, 3, false}, Case{{2, 4, 5}, 7, false}, Case{{3, 1, 5}, 1, false},
                          Case{{2, 4, 5}, 2, true}, Case{{2, 4, 5}, 0, false}})
    for (int wanted = 0; wanted < 8; ++wanted)
      for (const bool biased : {true, false}) {
        INFO(one.shape.size() << "-d, " << one.outputs << " outputs, wanted " << wanted << ", bias " << biased);
        const torch::Tensor whole = float_tensor({2, 9, 5}, 1);
        torch::Tensor x = one.strided ? whole.narrow(1, 2, 4) : float_tensor(one.shape, 2);
        torch::Tensor weight = float_tensor({one.outputs, 5}, 3);
        torch::Tensor bias = biased ? float_tensor({one.outputs}, 4) : torch::Tensor();
        std::vector<torch::Tensor> leaves;
        const std::vector<std::pair<torch::Tensor*, int>> choices = {{&x, 1}, {&weight, 2}, {&bias, 4}};
        for (const auto& [tensor, bit] : choices)
          if ((wanted & bit) != 0 && tensor->defined()) leaves.push_back(tensor->requires_grad_());
        std::vector<std::vector<torch::Tensor>> found;
        for (const LinearLibrary library : {LinearLibrary::blas, LinearLibrary::onednn}) {
          const torch::Tensor y = linear_layer(x, weight, bias, library);
          CHECK(y.requires_grad() == !leaves.empty());
          found.push_back({y.detach()});
          if (leaves.empty()) continue;
          const torch::Tensor loss = (y * torch::arange(y.numel(), torch::kFloat32).view(y.sizes())).sum();
          for (const torch::Tensor& gradient : torch::autograd::grad({loss}, leaves)) found.back().push_back(gradient);
        }
        REQUIRE(found[0].size() == found[1].size());
        for (size_t i = 0; i < found[0].size(); ++i)
          CHECK(max_difference(found[0][i], found[1][i]) <=
                1e-4 * (1 + (found[0][i].numel() > 0 ? found[0][i].abs().max().item<double>() : 0)));
      }
}

TEST_CASE("a model gives the same logits and gradients with either library", "[model]") {
  if (!at::globalContext().hasMKLDNN()) {
    WARN("this LibTorch has no oneDNN");
    return;
  }
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const auto model = small_model(small_config(kind));
    Batch batch;
    batch.examples = {0, 1};
    batch.tokens = torch::tensor({1, 2, 3, 4, 5, 6}, torch::kInt64).view({2, 3});
    batch.present = torch::ones({2, 3}, torch::kBool);
    std::vector<std::vector<torch::Tensor>> found;
    for (const LinearLibrary library : {LinearLibrary::blas, LinearLibrary::onednn}) {
      model->use({.library = library});
      const torch::Tensor values = model->forward(batch).values;
      found.push_back({values.detach()});
      for (const torch::Tensor& gradient : torch::autograd::grad({values.tanh().sum()}, model->parameters()))
        found.back().push_back(gradient);
    }
    for (size_t i = 0; i < found[0].size(); ++i) CHECK(max_difference(found[0][i], found[1][i]) < 1e-5);
  }
}

torch::Tensor rounded(const torch::Tensor& x) { return x.to(torch::kBFloat16).to(torch::kFloat32); }

TEST_CASE("bfloat16 rounds the factors of float32 products, and nothing else", "[model][bfloat16]") {
  const torch::Tensor x = float_tensor({40, 24}, 1);
  CHECK(as_factor(x, ComputeType::float32).is_same(x));
  const auto products = std::make_shared<Products>();
  Projection projection(24, 7, true, products);
  disturb(projection, 2);
  const torch::Tensor exact = projection.forward(x);  // [40, 7]
  constexpr ComputeType kHalf = ComputeType::bfloat16;
  CHECK(as_factor(x, kHalf).scalar_type() == torch::kBFloat16);
  CHECK(as_factor(x.to(torch::kFloat64), kHalf).scalar_type() == torch::kFloat64);
  CHECK(as_factor(x.to(torch::kInt64), kHalf).scalar_type() == torch::kInt64);
  CHECK_FALSE(as_factor({}, kHalf).defined());
  products->type = kHalf;

  const torch::Tensor found = projection.forward(x);
  REQUIRE(found.scalar_type() == torch::kFloat32);
  // Truth: a product of the rounded factors, summed exactly, and rounded once at the end: 8 bits, half a unit.
  const torch::Tensor truth =
      (rounded(x).to(torch::kFloat64).matmul(rounded(projection.weight).to(torch::kFloat64).t()) +
       rounded(projection.bias).to(torch::kFloat64));  // [40, 7]
  CHECK(((found - truth).abs() <= 1.01 * truth.abs() / 256 + 1e-6).all().item<bool>());
  CHECK(max_difference(found, exact) > 1e-4);
  CHECK(projection.read_out(x).equal(exact));
}

TEST_CASE("a model in bfloat16 stays near float32: logits, both attention paths, gradients of gates and weights",
          "[model][bfloat16]") {
  struct Case {
    std::shared_ptr<TransformerModel> model;
    Batch batch;
  };
  const Batch plain = batch_of({{1, 2, 3, 4}, {5, 6}, {7, 8, 9}});
  for (const Case& one : {Case{small_model(small_config(Kind::encoder)), plain},
                          Case{small_model(small_config(Kind::decoder, NormOrder::post)), plain},
                          Case{small_translator_model(small_translator(NormOrder::pre, true)), small_translation()}}) {
    TransformerModel& model = *one.model;
    const auto relative = [](const torch::Tensor& a, const torch::Tensor& b) {
      return ((a - b).norm() / b.norm()).item<double>();
    };
    const auto pass = [&](bool weights) {
      HeadProbe probe{.gates = {}, .weights = weights};
      for (const BlockHeads& block : model.blocks())
        probe.gates.push_back(torch::ones({block.count()}).requires_grad_());
      const torch::Tensor values = model.forward(one.batch, probe).values;
      std::vector<torch::Tensor> leaves = probe.gates, found = {values.detach()};
      for (const torch::Tensor& parameter : model.parameters()) leaves.push_back(parameter);
      for (const torch::Tensor& gradient : torch::autograd::grad({values.tanh().sum()}, leaves, {}, {}, {}, true))
        found.push_back(gradient.defined() ? gradient : torch::zeros({1}));
      return found;
    };
    const auto exact = pass(false);
    const WithProducts with(model, {.type = ComputeType::bfloat16});
    const auto fused = pass(false), explicitly = pass(true);
    CHECK_FALSE(fused[0].equal(exact[0]));
    CHECK_FALSE(fused[0].equal(rounded(fused[0])));  // what is read out keeps its digits
    CHECK(relative(fused[0], exact[0]) < 0.03);
    CHECK(relative(explicitly[0], exact[0]) < 0.03);
    double difference = 0, size = 0;
    for (size_t i = 1; i < exact.size(); ++i) {
      CHECK(fused[i].scalar_type() == torch::kFloat32);
      difference += (fused[i] - exact[i]).square().sum().item<double>();
      size += exact[i].square().sum().item<double>();
    }
    CHECK(std::sqrt(difference / size) < 0.05);
  }
}

TEST_CASE("how a model multiplies is its own, and its copies'", "[model]") {
  const auto model = small_model(small_config(Kind::encoder));
  const auto other = small_model(small_config(Kind::encoder));
  const Batch batch = batch_of({{1, 2, 3, 4}, {5, 6}});
  const torch::NoGradGuard no_gradients;
  const torch::Tensor exact = model->forward(batch).values;
  model->use({.type = ComputeType::bfloat16});
  const torch::Tensor rough = model->forward(batch).values;
  CHECK_FALSE(rough.equal(exact));
  CHECK(other->forward(batch).values.equal(exact));
  CHECK(model->clone()->forward(batch).values.equal(rough));
  {
    const WithProducts with(*model, {});
    CHECK(model->forward(batch).values.equal(exact));
  }
  CHECK(model->forward(batch).values.equal(rough));
}

TEST_CASE("operators that LibTorch does not document do what the documented ones do", "[model]") {
  torch::Tensor scores = random_tensor({3, 4, 5}, 1);
  scores.index_put_({1, 2}, -std::numeric_limits<double>::infinity());
  scores.index_put_({0, 0, 1}, -std::numeric_limits<double>::infinity());
  CHECK(max_difference(safe_softmax(scores), documented::safe_softmax(scores)) < 1e-15);
  CHECK(documented::safe_softmax(scores)[1][2].eq(0).all().item<bool>());

  const auto step_of = [](uint64_t seed) {
    AdamWStep step{.parameters = {random_tensor({4, 3}, seed), random_tensor({3}, seed + 1)},
                   .gradients = {random_tensor({4, 3}, seed + 2), random_tensor({3}, seed + 3)},
                   .exp_avgs = {random_tensor({4, 3}, seed + 4), random_tensor({3}, seed + 5)},
                   .exp_avg_sqs = {random_tensor({4, 3}, seed + 6).abs(), random_tensor({3}, seed + 7).abs()},
                   .steps = {torch::tensor(3.f), torch::tensor(1.f)},
                   .learning_rate = 0.01,
                   .beta1 = 0.9,
                   .beta2 = 0.95,
                   .weight_decay = 0.1,
                   .epsilon = 1e-6};
    return step;
  };
  AdamWStep fast = step_of(10), plain = step_of(10);
  const torch::Tensor before = fast.parameters[0].clone();
  adamw_step(fast);
  documented::adamw_step(plain);
  CHECK(max_difference(fast.parameters[0], before) > 1e-3);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(max_difference(fast.parameters[i], plain.parameters[i]) < 1e-12);
    CHECK(max_difference(fast.exp_avgs[i], plain.exp_avgs[i]) < 1e-12);
    CHECK(max_difference(fast.exp_avg_sqs[i], plain.exp_avg_sqs[i]) < 1e-12);
  }

  if (!has_onednn_linear()) return;
  const torch::Tensor x = float_tensor({6, 5}, 1), weight = float_tensor({3, 5}, 2), bias = float_tensor({3}, 3);
  CHECK(max_difference(onednn_linear(x, weight, bias), at::linear(x, weight, bias)) < 1e-5);
}

}  // namespace
}  // namespace headprune
