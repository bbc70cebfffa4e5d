// What every metric must keep, whichever it is, and what docs/definitions.md says of each.
#include <cmath>
#include <random>

#include "core/files.h"
#include "core/text.h"
#include "metric/metric.h"
#include "support/catch_torch.h"

using namespace headprune;

namespace {

constexpr DataKind kKinds[] = {DataKind::labelled, DataKind::numbered, DataKind::language, DataKind::translation,
                               DataKind::choices};

/// Outcomes that have what any metric looks at; all right where `right`, else drawn.
Outcomes drawn_outcomes(bool right, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> words = {"a dog runs home", "two men sit on a bench", "the red car",
                                          "snow falls here"};
  Outcomes all(24);
  for (size_t i = 0; i < all.size(); ++i) {
    Outcome& one = all[i];
    one.loss = right ? 0 : 0.1 + static_cast<double>(random() % 50) / 10;
    one.weight = 1 + static_cast<double>(random() % 5);
    one.labels = 3;
    one.target = static_cast<int64_t>(i % 3);
    one.predicted = right ? one.target : static_cast<int64_t>(random() % 3);
    one.predicted_by_length = right ? one.target : static_cast<int64_t>(random() % 3);
    one.characters = one.bytes = 4 + static_cast<int64_t>(random() % 9);
    one.number = static_cast<double>(i % 7);
    one.predicted_number = right ? *one.number : static_cast<double>(random() % 70) / 10;
    one.reference = words[i % 4];
    one.text = right ? one.reference : words[random() % 4];
  }
  return all;
}

MetricResult measure(const MeasuredMetric& metric, const Outcomes& outcomes, const Outcomes* base = nullptr) {
  const SharedBootstrap shared;
  return metric.metric->measure({.outcomes = outcomes, .base = base, .bootstrap_iters = 300, .seed = 1}, metric.info,
                                shared);
}

}  // namespace

TEST_CASE("every metric keeps its range and direction, alone and against a base", "[metric]") {
  CHECK(Registry<Metric>::instance().duplicates().empty());
  for (const DataKind kind : kKinds) {
    REQUIRE_FALSE(metric_names(kind).empty());
    for (const std::string& name : metric_names(kind)) {
      CAPTURE(name);
      const MeasuredMetric metric = measured_metric(name, kind);
      CHECK(metric.info.name == name);
      const MetricRange range = metric.info.range;
      const double best = metric.metric->value(drawn_outcomes(true, 0));
      CHECK(best == Approx(metric.info.higher_is_better ? range.high : range.low));
      for (uint64_t seed = 1; seed < 20; ++seed) {
        const Outcomes outcomes = drawn_outcomes(false, seed), base = drawn_outcomes(false, seed + 100);
        const MetricResult result = measure(metric, outcomes, &base);
        CHECK(result.name == name);
        CHECK(result.estimate.value == Approx(metric.metric->value(outcomes)).margin(1e-12));
        CHECK((metric.info.higher_is_better ? best > result.estimate.value : best < result.estimate.value));
        REQUIRE(result.estimate.ci95);
        CHECK((*result.estimate.ci95)[0] >= range.low);
        CHECK((*result.estimate.ci95)[1] <= range.high);
        CHECK(result.examples.size() == outcomes.size());
        REQUIRE(result.difference);
        CHECK(result.difference->delta ==
              Approx(metric.metric->value(outcomes) - metric.metric->value(base)).margin(1e-9));
      }
      if (!metric.info.proportion) continue;
      for (const double example : measure(metric, drawn_outcomes(false, 1)).examples)
        CHECK((example == 0 || example == 1));
    }
  }
}

TEST_CASE("a metric has no value where a loss is not finite, and none without examples", "[metric]") {
  for (const DataKind kind : kKinds) {
    for (const std::string& name : metric_names(kind)) {
      CAPTURE(name);
      const MeasuredMetric metric = measured_metric(name, kind);
      Outcomes outcomes = drawn_outcomes(false, 3);
      outcomes[5].loss = NAN;
      CHECK(std::isnan(metric.metric->value(outcomes)));
      CHECK(std::isnan(metric.metric->value({})));
      const MetricResult result = measure(metric, outcomes);
      CHECK(std::isnan(result.estimate.value));
      CHECK_FALSE(result.estimate.ci95);
      const Outcomes finite = drawn_outcomes(false, 4);
      const MetricResult against = measure(metric, finite, &outcomes);
      REQUIRE(against.difference);
      CHECK(std::isnan(against.difference->delta));
    }
  }
}

TEST_CASE("a metric is offered for its own data only", "[metric]") {
  CHECK(metric_names(DataKind::labelled) == std::vector<std::string>{"accuracy", "f1", "loss", "matthews"});
  CHECK_THROWS_AS(measured_metric("bleu", DataKind::labelled), std::logic_error);
  CHECK_THROWS_AS(measured_metric("no_such", DataKind::labelled), std::logic_error);
}

TEST_CASE("direction and range are those of docs/definitions.md", "[metric]") {
  const std::string text = read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "docs/definitions.md");
  for (const DataKind kind : kKinds) {
    for (const std::string& name : metric_names(kind)) {
      CAPTURE(name);
      const MetricInfo info = measured_metric(name, kind).info;
      const std::string range = std::isfinite(info.range.high)
                                    ? fmt::format("{} to {}", info.range.low, info.range.high)
                                    : fmt::format("from {}", info.range.low);
      const size_t row = text.find("| `" + name + "` |");
      REQUIRE(row != std::string::npos);
      const std::string line = text.substr(row, text.find('\n', row) - row);
      CHECK_THAT(line,
                 ContainsSubstring(fmt::format("| {} | {} |", info.higher_is_better ? "higher" : "lower", range)));
    }
  }
}
