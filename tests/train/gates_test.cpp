// Gates that a training learns: their gradients, what stays as it is, and a training that is interrupted.
#include "train/gate_learner.h"
#include "train_fixture.h"

namespace headprune {
namespace {

/// gate = sigmoid(logit + noise of the step), with a penalty on the logits.
class NoisyGates final : public GateSource {
 public:
  NamedTensors parameters() const override { return {{"logit", logit}}; }
  PerBlock gates(int64_t step) override {
    return {torch::sigmoid(logit + 0.1 * static_cast<double>(step % 3)).to(torch::kFloat32)};
  }
  torch::Tensor penalty() const override { return 0.01 * logit.square().sum(); }
  void confine() override {
    const torch::NoGradGuard no_gradients;
    logit.clamp_(-bound, bound);
  }
  std::vector<std::pair<std::string, double>> measurements() const override {
    return {{"open_heads", torch::sigmoid(logit).sum().item<double>()}};
  }

  torch::Tensor logit = torch::tensor({0.3, -0.2}, torch::dtype(torch::kFloat64).requires_grad(true));
  double bound = 3;
};

TrainOptions ten_steps() {
  TrainOptions options;
  options.per_device_train_batch_size = 2;
  options.max_steps = 10;
  options.save_steps = 4;
  options.logging_steps = 1;
  options.learning_rate = 0.05;
  return options;
}

/// A training of gates alone, or with the weights.
struct GateRun : TrainRun {
  explicit GateRun(bool weights, const TrainOptions& chosen = ten_steps()) : TrainRun(chosen, 0.3) {
    gates = {&source, 0.1, weights};
    evaluate = false;
  }
  NoisyGates source;
};

}  // namespace

TEST_CASE("gates get the gradient of the loss over all batches of a step, and of the penalty", "[train]") {
  NoisyGates source;
  GateLearner learner(source, torch::kCPU);
  const torch::Tensor weights = torch::tensor({2.F, -1.F});
  // Two batches, each with its own graph, over one set of gates.
  const auto loss_of = [&](const torch::Tensor& gates, double scale) {
    return ((gates * weights).sum() * scale).square();
  };
  const PerBlock gates = learner.open(2);
  loss_of(gates[0], 1).backward();
  loss_of(gates[0], 0.5).backward();
  const auto measured = learner.close();
  const torch::Tensor found = source.logit.grad().clone();
  const auto whole = [&](const torch::Tensor& logit) {
    const torch::Tensor values = torch::sigmoid(logit + 0.2);
    const double sum = (values * weights.to(torch::kFloat64)).sum().item<double>();
    return 1.25 * sum * sum + 0.01 * logit.square().sum().item<double>();
  };
  for (int64_t i = 0; i < 2; ++i) {
    torch::Tensor step = torch::zeros({2}, torch::kFloat64);
    step[i] = 1e-5;
    const torch::Tensor at = source.logit.detach();
    CHECK(std::abs(found[i].item<double>() - (whole(at + step) - whole(at - step)) / 2e-5) < 1e-5);
  }
  REQUIRE(measured.size() == 3);
  CHECK(measured[0].first == "penalty");
  CHECK(std::abs(measured[0].second - 0.01 * 0.13) < 1e-12);
  CHECK(std::abs(measured[1].second - found.norm().item<double>()) < 1e-9);
}

TEST_CASE("gates alone: weights stay as they are, and no dropout is drawn", "[train]") {
  GateRun run(/*weights=*/false);
  const auto before = run.model.copy();
  const torch::Tensor logit = run.source.logit.detach().clone();
  const TrainResult result = run.run();
  CHECK(result.steps == 10);
  CHECK(same_weights(run.model, *before));
  for (const torch::Tensor& parameter : run.model.parameters()) {
    CHECK(parameter.requires_grad());
    CHECK_FALSE(parameter.grad().defined());
  }
  CHECK_FALSE(torch::allclose(run.source.logit.detach(), logit));
  CHECK(run.values("train", "open_heads").size() == 10);
  CHECK(run.values("train", "penalty").size() == 10);
  CHECK(run.values("train", "learning_rate").empty());  // no weight has one
  // Without dropout a second training gives the same rows although the generator has moved on.
  GateRun again(/*weights=*/false);
  torch::rand({7});
  again.run();
  CHECK(again.values("train", "loss") == run.values("train", "loss"));
  CHECK(torch::equal(again.source.logit, run.source.logit));
}

TEST_CASE("gates with weights: both learn, and gates of 1 would have learnt other weights", "[train]") {
  GateRun run(/*weights=*/true);
  const auto before = run.model.copy();
  run.run();
  CHECK_FALSE(same_weights(run.model, *before));
  CHECK(run.values("train", "grad_norm").size() == 10);
  GateRun without(/*weights=*/true);
  without.gates = {};
  without.run();
  CHECK_FALSE(same_weights(run.model, without.model));
  // A constant learning rate: AdamW's first step moves each parameter by it.
  GateRun one(/*weights=*/true, [] {
    TrainOptions options = ten_steps();
    options.max_steps = 1;
    return options;
  }());
  const torch::Tensor logit = one.source.logit.detach().clone();
  one.run();
  CHECK(torch::allclose((one.source.logit.detach() - logit).abs(), torch::full({2}, 0.1, torch::kFloat64), 1e-4));
}

TEST_CASE("bounds of gates hold after every step", "[train]") {
  GateRun run(/*weights=*/false);
  run.source.bound = 0.31;
  run.run();
  CHECK(run.source.logit.abs().max().item<double>() <= 0.31);
}

TEST_CASE("a training of gates that was killed ends in the same gates", "[train]") {
  struct Killed {};
  for (const bool weights : {false, true}) {
    INFO(weights);
    const TestFolder whole_folder, cut_folder;
    GateRun whole(weights);
    whole.folder = whole_folder.path();
    whole.run();

    GateRun cut(weights);
    cut.folder = cut_folder.path();
    cut.on_point = [&](const TrainPoint& point) {
      if (point.step == 7) throw Killed();
    };
    CHECK_THROWS_AS(cut.run(), Killed);
    GateRun next(weights);
    next.folder = cut_folder.path();
    CHECK(next.run().steps_here == 6);  // from the checkpoint of step 4
    CHECK(torch::equal(next.source.logit, whole.source.logit));
    CHECK(same_weights(next.model, whole.model));
    CHECK(fs::exists(cut_folder.path() / "checkpoint-000010" / "gates.safetensors"));
    CHECK(fs::exists(cut_folder.path() / "checkpoint-000010" / "model.safetensors") == weights);
    GateRun third(weights);
    third.folder = cut_folder.path();
    CHECK(third.run().steps_here == 0);  // done: gates are only read
    CHECK(torch::equal(third.source.logit, whole.source.logit));
  }
}

TEST_CASE("gates of another shape are not taken for these", "[train]") {
  NoisyGates source;
  GateLearner learner(source, torch::kCPU);
  CHECK_THROWS(learner.load({{"logit", torch::zeros({3}, torch::kFloat64)}}, "here"));
  CHECK_THROWS(learner.load({{"other", torch::zeros({2}, torch::kFloat64)}}, "here"));
}

}  // namespace headprune
