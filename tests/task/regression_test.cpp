// Task `regression`: losses by hand, metrics against scipy and numpy.
#include <cmath>
#include <limits>

#include "config/load.h"
#include "support/catch_torch.h"
#include "task/losses.h"
#include "task/task.h"

using namespace headprune;

namespace {

struct RegressionConfig {
  Plugin<Task> task;
  template <class V>
  void fields(V& v) {
    v("task", task, "task under test", required);
  }
};

std::shared_ptr<const Task> regression(const std::string& metrics = "[pearson, spearman, loss, mae]") {
  const ConfigText text{
      .name = "test.yaml", .text = "task: {type: regression, metrics: " + metrics + "}\n", .folder = "/"};
  return load_config<RegressionConfig>(text).value.task.make();
}

Outcomes outcomes_of(const std::vector<double>& numbers, const std::vector<double>& predictions) {
  Outcomes all;
  for (size_t i = 0; i < numbers.size(); ++i) {
    Outcome& one = all.emplace_back();
    one.number = numbers[i];
    one.predicted_number = predictions[i];
    one.loss = (predictions[i] - numbers[i]) * (predictions[i] - numbers[i]);
  }
  return all;
}

const std::vector<double> kNumbers = {0.0, 5.0, 2.5, 3.8, 1.2, 4.4, 3.2, 0.8, 2.0, 5.0, 1.6, 2.5};
const std::vector<double> kNear = {0.4, 4.6, 2.9, 3.1, 0.9, 4.9, 2.2, 1.5, 2.4, 4.1, 1.9, 3.3};
const std::vector<double> kFar = {1.4, 3.6, 2.9, 2.1, 1.9, 2.9, 3.2, 2.5, 1.4, 2.1, 1.9, 3.3};

}  // namespace

TEST_CASE("the loss of regression is the squared error, and its gradient twice the error", "[task]") {
  const torch::Tensor values = torch::tensor({{1.5}, {-2.0}}, torch::kFloat64).requires_grad_();  // [B, 1]
  Batch batch;
  batch.numbers = torch::tensor({1.0, 1.0}, torch::kFloat64);
  batch.examples = {4, 2};
  const auto task = regression();
  CHECK(task->data_kind() == DataKind::numbered);
  const torch::Tensor losses = task->example_losses(values, batch);
  CHECK(losses.sizes() == torch::IntArrayRef({2}));
  CHECK(losses[0].item<double>() == 0.25);
  CHECK(losses[1].item<double>() == 9);
  CHECK(task->training_loss(values, batch, 0).item<double>() == 4.625);
  losses.sum().backward();
  CHECK(values.grad()[0].item<double>() == 1);
  CHECK(values.grad()[1].item<double>() == -6);
  const Outcomes outcomes = task->outcomes(values.detach(), batch);
  REQUIRE(outcomes.size() == 2);
  CHECK((outcomes[1].number == 1.0 && outcomes[1].predicted_number == -2.0 && outcomes[1].loss == 9));
  CHECK((outcomes[1].target == -1 && outcomes[1].weight == 1));
  // A model in float32 is compared in float32.
  CHECK(task->example_losses(values.detach().to(torch::kFloat32), batch).scalar_type() == torch::kFloat32);
}

TEST_CASE("metrics of regression agree with scipy and numpy, each with n and an interval", "[task]") {
  const Outcomes base = outcomes_of(kNumbers, kNear), now = outcomes_of(kNumbers, kFar);
  const auto all = regression()->evaluate({.outcomes = now, .base = &base, .bootstrap_iters = 10000, .seed = 1});
  REQUIRE(all.size() == 4);
  const double expected[] = {0.5375458270959266, 0.586576100200597, 1.8416666666666666, 1.116666666666667};
  const double differences[] = {-0.38649213062720555, -0.32220142383954553, 1.4666666666666666, 0.5500000000000002};
  const char* const names[] = {"pearson", "spearman", "loss", "mae"};
  for (size_t i = 0; i < 4; ++i) {
    INFO(names[i]);
    CHECK(all[i].name == names[i]);
    CHECK(all[i].estimate.value == Approx(expected[i]).epsilon(1e-12));
    CHECK(all[i].estimate.n == 12);
    CHECK(all[i].estimate.interval == (i < 2 ? "bca" : "normal"));
    CHECK((*all[i].estimate.ci95)[0] < expected[i]);
    CHECK((*all[i].estimate.ci95)[1] > expected[i]);
    REQUIRE(all[i].difference);
    CHECK(all[i].difference->delta == Approx(differences[i]).epsilon(1e-10));
    CHECK(all[i].difference->test == "paired_bootstrap");
    CHECK(regression(fmt::format("[{}]", names[i]))->choice_value(now) == Approx(expected[i]).epsilon(1e-12));
  }
  // scipy.stats.bootstrap of the same, 20,000 draws.
  CHECK(*all[0].estimate.stderr_ == Approx(0.21908027614586426).epsilon(0.05));
  CHECK((*all[0].estimate.ci95)[0] == Approx(0.004979935278649088).margin(0.05));
  CHECK((*all[0].estimate.ci95)[1] == Approx(0.8560829027912766).margin(0.02));
  CHECK(regression()->metrics()[0].higher_is_better);
  CHECK_FALSE(regression()->metrics()[3].higher_is_better);
}

TEST_CASE("correlations are 0 where all predictions are equal but for rounding", "[task]") {
  std::vector<double> constant(kNumbers.size(), 2.5);
  constant[3] += 1e-7;
  const auto all = regression()->evaluate({.outcomes = outcomes_of(kNumbers, constant), .bootstrap_iters = 200});
  CHECK(all[0].estimate.value == 0);
  CHECK(all[1].estimate.value == 0);
  CHECK_FALSE(all[1].estimate.stderr_);  // every resample gives 0: nothing says how sure that is
  constant[3] = 2.6;
  CHECK(regression("[pearson]")->choice_value(outcomes_of(kNumbers, constant)) != 0);
}

TEST_CASE("correlations do not change when numbers are shifted and scaled", "[task]") {
  std::vector<double> moved;
  for (const double prediction : kFar) moved.push_back(1e6 + 3 * prediction);
  for (const char* metric : {"[pearson]", "[spearman]"})
    CHECK(regression(metric)->choice_value(outcomes_of(kNumbers, moved)) ==
          Approx(regression(metric)->choice_value(outcomes_of(kNumbers, kFar))).epsilon(1e-9));
}

TEST_CASE("a prediction that is not finite makes every metric of regression NaN", "[task]") {
  Outcomes broken = outcomes_of(kNumbers, kNear);
  broken[2].predicted_number = broken[2].loss = std::numeric_limits<double>::quiet_NaN();
  for (const MetricResult& result : regression()->evaluate({.outcomes = broken, .bootstrap_iters = 200})) {
    INFO(result.name);
    CHECK(std::isnan(result.estimate.value));
    CHECK_FALSE(result.estimate.ci95);
  }
  CHECK(std::isnan(regression()->choice_value(broken)));
  CHECK_THROWS_WITH(regression("[accuracy]"), ContainsSubstring("pearson"));
  CHECK_THROWS_WITH(regression("[mae, mae]"), ContainsSubstring("listed twice"));
}
