#include <cmath>

#include "config/load.h"
#include "support/catch_torch.h"
#include "task/task.h"

using namespace headprune;

namespace {

struct TaskConfig {
  Plugin<Task> task;
  template <class V>
  void fields(V& v) {
    v("task", task, "task under test", required);
  }
};

std::shared_ptr<const Task> task_from(const std::string& options) {
  const ConfigText text{.name = "test.yaml", .text = "task: {" + options + "}\n", .folder = "/"};
  return load_config<TaskConfig>(text).value.task.make();
}

Outcomes predictions(const std::vector<int64_t>& targets, const std::vector<int64_t>& predicted, int64_t labels) {
  Outcomes all;
  for (size_t i = 0; i < targets.size(); ++i)
    all.push_back({.loss = 0.1 * static_cast<double>(i),
                   .weight = 1,
                   .target = targets[i],
                   .predicted = predicted[i],
                   .labels = labels});
  return all;
}

Outcomes losses(const std::vector<double>& values, const std::vector<double>& weights) {
  Outcomes all(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    all[i].loss = values[i], all[i].weight = weights[i];
    all[i].characters = all[i].bytes = static_cast<int64_t>(weights[i]);  // as if each token were a character
  }
  return all;
}

double value(const std::string& options, const Outcomes& outcomes) {
  const auto one = task_from(options);
  const double headline = one->choice_value(outcomes);
  const MetricInput input{.outcomes = outcomes, .base = nullptr, .bootstrap_iters = 200, .seed = 1};
  CHECK(one->evaluate(input).front().estimate.value == Approx(headline).margin(1e-12));
  return headline;
}

const Outcomes kBinary = predictions({0, 1, 1, 0, 1, 0, 1, 1, 0, 1}, {0, 1, 0, 1, 1, 0, 1, 1, 1, 1}, 2);
const Outcomes kFour = predictions({0, 1, 2, 2, 1, 0, 2, 1, 0, 3, 3, 2}, {0, 2, 2, 2, 1, 0, 1, 1, 3, 3, 0, 2}, 4);

}  // namespace

// Expected values: scikit-learn 1.x, f1_score (average binary or macro) and matthews_corrcoef.
TEST_CASE("F1 and Matthews agree with scikit-learn", "[task]") {
  CHECK(value("type: classification, metrics: [f1]", kBinary) == Approx(0.7692307692307693));
  CHECK(value("type: classification, metrics: [matthews]", kBinary) == Approx(0.3563483225498992));
  CHECK(value("type: classification, metrics: [f1]", kFour) == Approx(0.6458333333333333));
  CHECK(value("type: classification, metrics: [matthews]", kFour) == Approx(0.5471698113207547));
  // Label 2 is never predicted right; label 3 of 4 does not occur and takes no part in the mean.
  const Outcomes three = predictions({0, 1, 2, 0}, {0, 1, 1, 0}, 4);
  CHECK(value("type: classification, metrics: [f1]", three) == Approx(0.5555555555555555));
  CHECK(value("type: classification, metrics: [matthews]", three) == Approx(0.6708203932499369));
}

TEST_CASE("F1 and Matthews are 0 where they are not defined", "[task]") {
  const Outcomes constant = predictions({0, 1, 1}, {0, 0, 0}, 2);
  CHECK(value("type: classification, metrics: [f1]", constant) == 0);
  CHECK(value("type: classification, metrics: [matthews]", constant) == 0);
  CHECK(value("type: classification, metrics: [f1]", predictions({0, 0}, {0, 0}, 2)) == 0);
}

TEST_CASE("which F1 is meant does not depend on the predictions of one mask", "[task]") {
  // Three labels of which only two occur: still the mean over labels, not F1 of label 1.
  CHECK(value("type: classification, metrics: [f1]", predictions({0, 1, 1}, {0, 1, 0}, 3)) ==
        Approx((2.0 / 3 + 2.0 / 3) / 2));
  CHECK(value("type: classification, metrics: [f1]", predictions({0, 0, 1, 1}, {0, 0, 1, 0}, 3)) ==
        Approx((0.8 + 2.0 / 3) / 2));
  CHECK(value("type: classification, metrics: [f1]", predictions({0, 0, 1, 1}, {0, 0, 1, 0}, 2)) == Approx(2.0 / 3));
}

TEST_CASE("accuracy has a Wilson interval and an exact McNemar test", "[task]") {
  const Outcomes base = predictions({0, 1, 1, 0, 1, 0, 1, 1, 0, 1}, {0, 1, 1, 0, 1, 0, 1, 1, 0, 0}, 2);  // 9 right
  const MetricInput input{.outcomes = kBinary, .base = &base, .bootstrap_iters = 200, .seed = 1};        // 7 right
  const auto results = task_from("type: classification")->evaluate(input);
  REQUIRE(results.size() == 2);
  CHECK(results[0].name == "accuracy");
  CHECK(results[0].estimate.value == Approx(0.7));
  CHECK(results[0].estimate.n == 10);
  CHECK(results[0].estimate.interval == "wilson");
  // Wilson: (p + z2/2n -+ z sqrt(p q / n + z2 / 4 n2)) / (1 + z2 / n) with z = 1.959964, by hand.
  CHECK((*results[0].estimate.ci95)[0] == Approx(0.396775).epsilon(1e-4));
  CHECK((*results[0].estimate.ci95)[1] == Approx(0.892209).epsilon(1e-4));
  // Lost: 2, 3, 8. Gained: 9. Two-sided binomial(4, 1/2): 2 (1 + 4) / 16.
  REQUIRE(results[0].difference);
  CHECK(results[0].difference->delta == Approx(-0.2));
  CHECK(*results[0].difference->p == Approx(0.625));
  CHECK(results[0].difference->test == "mcnemar");
  CHECK(results[1].name == "loss");
  CHECK(results[1].estimate.value == Approx(0.45));
  CHECK(results[1].estimate.interval == "normal");
  CHECK(results[1].difference->delta == Approx(0).margin(1e-12));
  CHECK(*results[1].difference->p == 1);
}

TEST_CASE("loss of language modelling is weighted by predicted tokens", "[task]") {
  const Outcomes outcomes = losses({1.0, 2.0, 4.0}, {4, 4, 2});  // 20 nats over 10 tokens
  const Outcomes base = losses({0.5, 1.0, 2.0}, {4, 4, 2});
  const MetricInput input{.outcomes = outcomes, .base = &base, .bootstrap_iters = 500, .seed = 1};
  const auto results = task_from("type: language_modelling")->evaluate(input);
  REQUIRE(results.size() == 3);
  CHECK(results[0].estimate.value == Approx(2.0));
  CHECK(results[0].estimate.interval == "normal");
  CHECK(results[0].difference->delta == Approx(1.0));
  CHECK(results[0].difference->test == "paired_bootstrap");
  CHECK(results[1].name == "perplexity");
  CHECK(results[1].estimate.value == Approx(std::exp(2.0)));
  CHECK(results[1].difference->delta == Approx(std::exp(2.0) - std::exp(1.0)));
  CHECK(results[2].name == "bits_per_char");
  CHECK(results[2].estimate.value == Approx(2.0 / std::log(2.0)));
  CHECK(*results[2].estimate.stderr_ == Approx(*results[0].estimate.stderr_ / std::log(2.0)));
  CHECK(results[2].difference->delta == Approx(1.0 / std::log(2.0)));
  CHECK(value("type: language_modelling, metrics: [bits_per_char]", outcomes) == Approx(2.0 / std::log(2.0)));
  CHECK(value("type: language_modelling, metrics: [perplexity]", outcomes) == Approx(std::exp(2.0)));
}

TEST_CASE("intervals are the same for the same seed, and other seeds move them", "[task]") {
  const auto one = task_from("type: classification, metrics: [f1]");
  const auto interval = [&](uint64_t seed) {
    const MetricInput input{.outcomes = kFour, .base = nullptr, .bootstrap_iters = 300, .seed = seed};
    const MetricResult result = one->evaluate(input).front();
    CHECK(result.estimate.interval == "bca");
    CHECK((*result.estimate.ci95)[0] <= result.estimate.value);
    CHECK((*result.estimate.ci95)[1] >= result.estimate.value);
    return *result.estimate.stderr_;
  };
  const double first = interval(1);
  CHECK(interval(2) != first);
  CHECK(interval(1) == first);
}

TEST_CASE("a non-finite loss makes every metric NaN, on either side of a comparison", "[task]") {
  Outcomes broken = kBinary;
  broken[3].loss = std::nan("");
  const auto all = task_from("type: classification, metrics: [accuracy, loss, f1, matthews]");
  const MetricInput input{.outcomes = broken, .base = &kBinary, .bootstrap_iters = 200, .seed = 1};
  for (const MetricResult& result : all->evaluate(input)) {
    INFO(result.name);
    CHECK(std::isnan(result.estimate.value));
    CHECK_FALSE(result.estimate.ci95);
    CHECK(std::isnan(result.difference->delta));
    CHECK_FALSE(result.difference->p);
  }
  CHECK(std::isnan(all->choice_value(broken)));
  CHECK(std::isnan(task_from("type: classification, metrics: [loss]")->choice_value(broken)));
}

TEST_CASE("metrics come in the order asked for, with their direction", "[task]") {
  const auto metrics = task_from("type: classification, metrics: [loss, matthews]")->metrics();
  REQUIRE(metrics.size() == 2);
  CHECK((metrics[0].name == "loss" && !metrics[0].higher_is_better));
  CHECK((metrics[1].name == "matthews" && metrics[1].higher_is_better));
  CHECK_THROWS_WITH(task_from("type: classification, metrics: [loss, loss]"), ContainsSubstring("listed twice"));
  CHECK_THROWS_WITH(task_from("type: classification, metrics: []"), ContainsSubstring("task.metrics"));
  CHECK_THROWS_WITH(task_from("type: classification, metrics: [bleu]"), ContainsSubstring("accuracy"));
}

TEST_CASE("F1 of two labels is of the label that the task names, and says which", "[task]") {
  Dataset dataset;
  dataset.labels = {"equivalent", "not_equivalent"};
  const auto f1 = [&](const std::string& options) {
    const ConfigText text{.name = "test.yaml", .text = "task: {" + options + "}\n", .folder = "/"};
    const auto task = load_config<TaskConfig>(text).value.task.make();
    task->prepare(dataset);
    return task;
  };
  const auto second = f1("type: classification, metrics: [f1]");
  CHECK_THAT(second->signatures().at("f1"), ContainsSubstring("'not_equivalent', the second of two"));
  const auto named = f1("type: classification, metrics: [f1], positive_label: equivalent");
  CHECK(named->signatures().at("f1") == "of the label 'equivalent'");
  // What prepare() chose travels with the outcomes.
  Batch batch;
  batch.labels = torch::tensor({0, 1}, torch::kInt64);  // [B]
  batch.examples = {0, 1};
  CHECK(named->outcomes(torch::zeros({2, 2}), batch)[0].positive == 0);
  CHECK(second->outcomes(torch::zeros({2, 2}), batch)[0].positive == 1);
  Outcomes of_first = kBinary;
  for (Outcome& outcome : of_first) outcome.positive = 0;
  CHECK(named->choice_value(of_first) == Approx(0.5714285714285714));  // sklearn f1_score(pos_label=0)
  try {
    f1("type: classification, metrics: [f1], positive_label: Equivalent");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK_THAT(error.what(), ContainsSubstring("the labels are equivalent, not_equivalent"));
  }
  dataset.labels.push_back("other");
  CHECK_THAT(f1("type: classification, metrics: [f1]")->signatures().at("f1"), ContainsSubstring("macro"));
}

TEST_CASE("bits are counted by characters and bytes of text, whatever the tokens are", "[task]") {
  // Two windows: 3 tokens of 2 nats that spell 12 characters (13 bytes), 2 tokens of 1 nat that spell 3 (3).
  Outcomes outcomes = losses({2, 1}, {3, 2});
  outcomes[0].characters = 12, outcomes[0].bytes = 13, outcomes[1].characters = 3, outcomes[1].bytes = 3;
  const double bits = (2 * 3 + 1 * 2) / std::log(2.0);
  CHECK(value("type: language_modelling, metrics: [bits_per_char]", outcomes) == Approx(bits / 15));
  CHECK(value("type: language_modelling, metrics: [bits_per_byte]", outcomes) == Approx(bits / 16));
  CHECK(value("type: language_modelling, metrics: [loss]", outcomes) == Approx(8.0 / 5));
}

TEST_CASE("the loss that breaks ties of a choice weighs examples by their tokens, as the metric does", "[task]") {
  const Outcomes outcomes = losses({2, 1}, {3, 1});
  CHECK(loss_value(outcomes) == Approx(7.0 / 4));
  CHECK(loss_value(outcomes) == value("type: language_modelling, metrics: [loss]", outcomes));
  CHECK(std::isnan(loss_value(losses({NAN, 1}, {3, 1}))));
}

TEST_CASE("a metric whose unit the data do not give is left out, and cannot come first", "[task]") {
  Dataset dataset;
  auto split = std::make_shared<Split>();
  split->examples.resize(1);
  dataset.train = dataset.score = dataset.select = dataset.report = split;
  const auto prepared = [&](const std::string& options) {
    const ConfigText text{.name = "test.yaml", .text = "task: {" + options + "}\n", .folder = "/"};
    const auto task = load_config<TaskConfig>(text).value.task.make();
    task->prepare(dataset);
    return task;
  };
  const auto task = prepared("type: language_modelling");
  CHECK(task->unavailable().contains("bits_per_char"));
  for (const MetricInfo& metric : task->metrics()) CHECK(metric.name != "bits_per_char");
  const Outcomes outcomes = losses({1, 2}, {1, 1});
  for (const MetricResult& result :
       task->evaluate({.outcomes = outcomes, .base = nullptr, .bootstrap_iters = 100, .seed = 1}))
    CHECK(result.name != "bits_per_char");
  CHECK_THROWS_WITH(prepared("type: language_modelling, metrics: [bits_per_char, loss]"),
                    ContainsSubstring("bits_per_char cannot come first"));
  split->examples[0].characters = split->examples[0].bytes = 5;
  CHECK(prepared("type: language_modelling")->unavailable().empty());
}

TEST_CASE("every metric keeps what each example contributes", "[task]") {
  const auto task = task_from("type: classification, metrics: [accuracy, loss, f1, matthews]");
  const MetricInput input{.outcomes = kBinary, .base = nullptr, .bootstrap_iters = 200, .seed = 1};
  for (const MetricResult& result : task->evaluate(input)) {
    CAPTURE(result.name);
    REQUIRE(result.examples.size() == kBinary.size());
    double mean = 0;
    for (const double one : result.examples) mean += one / static_cast<double>(kBinary.size());
    // The mean of pseudo-values is the statistic less its bias, which is small beside its error.
    CHECK(mean == Approx(result.estimate.value).margin(result.name == "f1" || result.name == "matthews" ? 0.1 : 1e-12));
  }
}
