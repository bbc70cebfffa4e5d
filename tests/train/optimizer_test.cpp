#include "train/optimizer.h"

#include "model/transformer.h"
#include "support/tiny_models.h"

namespace headprune {
namespace {

class Pair : public TinyModel {
 public:
  Pair() {
    matrix = register_parameter("matrix", torch::tensor({0.5, -0.25, 1.0, 2.0}, torch::kFloat64).view({2, 2}));
    bias = register_parameter("bias", torch::tensor({0.1, -0.3}, torch::kFloat64));
  }
  torch::Tensor matrix, bias;
};

TrainOptions golden_options() {
  TrainOptions options;
  options.weight_decay = 0.1;
  options.adam_beta1 = 0.8;
  options.adam_beta2 = 0.95;
  options.adam_epsilon = 1e-6;
  return options;
}

void set_gradients(Pair& pair, std::vector<double> matrix, std::vector<double> bias) {
  pair.matrix.mutable_grad() = torch::tensor(matrix, torch::kFloat64).view({2, 2});
  pair.bias.mutable_grad() = torch::tensor(bias, torch::kFloat64);
}

void check_values(const torch::Tensor& tensor, std::vector<double> expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(tensor.flatten()[static_cast<int64_t>(i)].item<double>() == Approx(expected[i]).epsilon(1e-12));
}

// Goldens: torch.optim.AdamW of PyTorch 2.13 in Python, float64, groups {matrix: decay 0.1} and {bias: decay 0},
// betas (0.8, 0.95), eps 1e-6, learning rate 0.01 and then 0.02, the gradients below.
TEST_CASE("two steps equal Python's AdamW, decay on the matrix and none on the bias", "[train]") {
  Pair pair;
  Optimizer optimizer(pair, golden_options());
  set_gradients(pair, {0.3, -0.1, 0.0, 2.0}, {1.0, -0.5});
  optimizer.step(0.01);
  check_values(pair.matrix, {0.48950003333322223, -0.23975009999900002, 0.999, 1.9880000049999975});
  check_values(pair.bias, {0.09000000999999, -0.29000001999996});
  set_gradients(pair, {-0.2, 0.4, 0.7, 1.0}, {0.25, 0.0});
  optimizer.step(0.02);
  check_values(pair.matrix, {0.48676912560159635, -0.251330353834452, 0.9814862086814647, 1.9656108907047938});
  check_values(pair.bias, {0.07380929691769136, -0.27726493827932563});

  const NamedTensors state = optimizer.state();
  CHECK(state.size() == 6);  // parameters that never had a gradient have no state
  check_values(state.at("exp_avg.matrix"), {0.008, 0.064, 0.14, 0.52});
  check_values(state.at("exp_avg_sq.bias"), {0.050625, 0.011875});
  CHECK(state.at("step.matrix").item<int64_t>() == 2);
}

TEST_CASE("a restored optimizer goes on bit for bit", "[train]") {
  Pair first, second;
  Optimizer straight(first, golden_options());
  set_gradients(first, {0.3, -0.1, 0.0, 2.0}, {1.0, -0.5});
  straight.step(0.01);

  Optimizer restored(second, golden_options());
  restored.load_state(straight.state(), "test");
  {
    torch::NoGradGuard no_gradients;
    second.matrix.copy_(first.matrix);
    second.bias.copy_(first.bias);
  }
  for (auto [pair, optimizer] : {std::pair{&first, &straight}, std::pair{&second, &restored}}) {
    set_gradients(*pair, {-0.2, 0.4, 0.7, 1.0}, {0.25, 0.0});
    optimizer->step(0.02);
  }
  CHECK(torch::equal(first.matrix, second.matrix));
  CHECK(torch::equal(first.bias, second.bias));
}

TEST_CASE("optimizer state that does not fit is refused by name", "[train]") {
  Pair pair;
  Optimizer optimizer(pair, golden_options());
  set_gradients(pair, {1, 1, 1, 1}, {1, 1});
  optimizer.step(0.01);
  NamedTensors missing = optimizer.state(), unknown = optimizer.state(), misshapen = optimizer.state();
  missing.erase("exp_avg.bias");
  unknown["exp_avg.other"] = torch::zeros({2});
  misshapen["exp_avg.matrix"] = torch::zeros({4}, torch::kFloat64);
  CHECK_THROWS_WITH(optimizer.load_state(missing, "here"), ContainsSubstring("exp_avg.bias"));
  CHECK_THROWS_WITH(optimizer.load_state(unknown, "here"), ContainsSubstring("exp_avg.other"));
  CHECK_THROWS_WITH(optimizer.load_state(misshapen, "here"), ContainsSubstring("exp_avg.matrix"));
}

TEST_CASE("clipping scales all gradients by one factor and returns the norm before", "[train]") {
  Pair pair;
  Optimizer optimizer(pair, golden_options());
  set_gradients(pair, {3, 0, 0, 0}, {0, 4});  // norm 5
  CHECK(optimizer.clip(0) == Approx(5));
  check_values(pair.matrix.grad(), {3, 0, 0, 0});
  CHECK(optimizer.clip(10) == Approx(5));
  check_values(pair.bias.grad(), {0, 4});
  CHECK(optimizer.clip(1) == Approx(5));
  const double factor = 1 / (5 + 1e-6);  // as in torch.nn.utils.clip_grad_norm_
  check_values(pair.matrix.grad(), {3 * factor, 0, 0, 0});
  check_values(pair.bias.grad(), {0, 4 * factor});
}

TEST_CASE("layer_decay lowers the learning rate by layer, embeddings most", "[train]") {
  for (const NormOrder norm : {NormOrder::pre, NormOrder::post}) {
    TransformerConfig sizes{.d_model = 8, .layers = 3, .heads = 2, .d_key = 4, .d_value = 4, .d_ff = 8, .norm = norm};
    sizes.vocabulary_size = 5;
    sizes.max_length = 4;
    sizes.outputs = 2;
    sizes.pooler = Pooler::tanh;
    Transformer model(sizes);
    TrainOptions options;
    options.layer_decay = 0.5;
    options.weight_decay = 0;
    options.adam_epsilon = 0;
    Optimizer optimizer(model, options);
    std::map<std::string, torch::Tensor> before;
    for (auto& item : model.named_parameters()) {
      before[item.key()] = item.value().detach().clone();
      item.value().mutable_grad() = torch::full_like(item.value(), 3.0);
    }
    optimizer.step(0.1);
    // AdamW's first step, whatever the gradient's size, is the learning rate.
    const std::pair<const char*, double> expected[] = {{"embeddings.", 0.0125},
                                                       {"blocks.0.", 0.025},
                                                       {"blocks.1.", 0.05},
                                                       {"blocks.2.", 0.1},
                                                       {"pooler.", 0.1},
                                                       {"head.", 0.1},
                                                       {"norm.", norm == NormOrder::post ? 0.0125 : 0.1}};
    size_t seen = 0;
    for (const auto& item : model.named_parameters())
      for (const auto& [prefix, rate] : expected) {
        if (!item.key().starts_with(prefix)) continue;
        INFO(item.key());
        CHECK((before.at(item.key()) - item.value() - rate).abs().max().item<double>() < 1e-6);
        ++seen;
      }
    CHECK(seen == before.size());
  }
  Pair pair;
  TrainOptions options = golden_options();
  options.layer_decay = 0.9;
  CHECK_THROWS_WITH(Optimizer(pair, options), ContainsSubstring("needs a model of layers"));
}

}  // namespace
}  // namespace headprune
