#include "task/losses.h"

#include <cmath>
#include <limits>

#include "support/catch_torch.h"
#include "task/task.h"

using namespace headprune;

namespace {

std::shared_ptr<const Task> task_named(const std::string& name) { return Plugin<Task>{name}.make(); }

/// -log softmax of one row, written out.
double nll(const std::vector<double>& logits, size_t target) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return std::log(sum) - logits[target];
}

}  // namespace

TEST_CASE("the loss of a labelled example is -log softmax of its label", "[task]") {
  const torch::Tensor values = torch::tensor({{1.0, 2.0, 0.5}, {0.0, -1.0, 3.0}}, torch::kFloat64);  // [B, labels]
  Batch batch;
  batch.labels = torch::tensor({2, 0}, torch::kInt64);
  batch.examples = {5, 3};
  const double first = nll({1.0, 2.0, 0.5}, 2), second = nll({0.0, -1.0, 3.0}, 0);
  const torch::Tensor losses = task_named("classification")->example_losses(values, batch);
  CHECK(losses[0].item<double>() == Approx(first));
  CHECK(losses[1].item<double>() == Approx(second));
  CHECK(task_named("classification")->training_loss(values, batch, 0).item<double>() == Approx((first + second) / 2));

  const Outcomes outcomes = task_named("classification")->outcomes(values, batch);
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].loss == Approx(first));
  CHECK((outcomes[0].target == 2 && outcomes[0].predicted == 1 && outcomes[0].labels == 3));
  CHECK((outcomes[1].target == 0 && outcomes[1].predicted == 2 && outcomes[1].weight == 1));
}

TEST_CASE("label smoothing spreads its share evenly over all labels", "[task]") {
  const torch::Tensor values = torch::tensor({{1.0, 2.0, 0.5}}, torch::kFloat64);  // [B, labels]
  Batch batch;
  batch.labels = torch::tensor({2}, torch::kInt64);
  batch.examples = {0};
  double expected = 0.9 * nll({1.0, 2.0, 0.5}, 2);
  for (size_t label = 0; label < 3; ++label) expected += 0.1 / 3 * nll({1.0, 2.0, 0.5}, label);
  CHECK(task_named("classification")->training_loss(values, batch, 0.1).item<double>() == Approx(expected));
}

TEST_CASE("the loss of a text is the mean over its targets, padding left out", "[task]") {
  const torch::Tensor values =
      torch::tensor({{{1.0, 2.0}, {0.0, 3.0}, {1.0, 1.0}}, {{2.0, 0.0}, {9.0, -9.0}, {5.0, 5.0}}}, torch::kFloat64)
          .requires_grad_();  // [B, T, vocabulary]
  Batch batch;
  batch.targets = torch::tensor({{0, 1, 1}, {1, -100, -100}}, torch::kInt64);
  batch.examples = {0, 1};
  const double a = nll({1, 2}, 0), b = nll({0, 3}, 1), c = nll({1, 1}, 1), d = nll({2, 0}, 1);
  const auto language = task_named("language_modelling");
  const torch::Tensor losses = language->example_losses(values, batch);
  CHECK(losses[0].item<double>() == Approx((a + b + c) / 3));
  CHECK(losses[1].item<double>() == Approx(d));
  CHECK(language->training_loss(values, batch, 0).item<double>() == Approx((a + b + c + d) / 4));
  const Outcomes outcomes = language->outcomes(values, batch);
  CHECK(outcomes[0].weight == 3);
  CHECK(outcomes[1].weight == 1);
  CHECK(outcomes[1].loss == Approx(d));
  losses.sum().backward();
  CHECK(values.grad()[1].slice(0, 1).abs().max().item<double>() == 0);
}

TEST_CASE("non-finite logits predict nothing and have a non-finite loss", "[task]") {
  const torch::Tensor values =
      torch::tensor({{1.0, std::numeric_limits<double>::quiet_NaN()}, {0.0, 1.0}}, torch::kFloat64);  // [B, labels]
  Batch batch;
  batch.labels = torch::tensor({1, 1}, torch::kInt64);
  batch.examples = {0, 1};
  const Outcomes outcomes = task_named("classification")->outcomes(values, batch);
  CHECK(outcomes[0].predicted == -1);
  CHECK_FALSE(std::isfinite(outcomes[0].loss));
  CHECK(outcomes[1].predicted == 1);
}
