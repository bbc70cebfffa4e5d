// Golden values: tests/golden/crossed_intervals.py (numpy 2, scipy 1.17.1). Coverage: benchmarks/coverage.cpp.
#include "stats/crossed.h"

#include <cmath>
#include <vector>

#include "stats/power.h"
#include "support/catch.h"

using namespace headprune;

namespace {

const MetricInfo kAccuracy{.name = "accuracy", .range = {0, 1}, .proportion = true};
const MetricInfo kLoss{.name = "loss", .higher_is_better = false, .range = {.low = 0}};

using Table = std::vector<std::vector<float>>;

std::vector<std::span<const float>> rows(const Table& table) { return {table.begin(), table.end()}; }

std::vector<double> means(const Table& table) {
  std::vector<double> values;
  for (const std::vector<float>& row : table) {
    double sum = 0;
    for (const float value : row) sum += value;
    values.push_back(sum / static_cast<double>(row.size()));
  }
  return values;
}

/// 3 seeds, 20 examples.
Table hits() {
  Table table(3, std::vector<float>(20));
  for (size_t s = 0; s < 3; ++s)
    for (size_t i = 0; i < 20; ++i) table[s][i] = (7 * i + 3 * s) % 20 < 5 + s || i < 2 ? 0 : 1;
  return table;
}

/// 4 seeds, 12 examples; `less` is taken from each.
Table losses(double less) {
  Table table(4, std::vector<float>(12));
  for (size_t s = 0; s < 4; ++s)
    for (size_t i = 0; i < 12; ++i)
      table[s][i] =
          static_cast<float>(0.5 + 0.1 * static_cast<double>(s) + 0.05 * static_cast<double>((5 * i + 2 * s) % 7) +
                             0.02 * static_cast<double>(i) - less);
  return table;
}

}  // namespace

TEST_CASE("seeds and examples each have their part of the variance", "[stats]") {
  const Crossed of = crossed(means(hits()), rows(hits()));
  CHECK(of.value == Approx(0.65).epsilon(1e-12));
  CHECK(of.repetition_variance == Approx(0.000833333333333333).epsilon(1e-6));
  CHECK(of.example_variance == Approx(0.00324561403508772).epsilon(1e-6));
  const Estimate estimate = crossed_estimate(of, kAccuracy);
  CHECK(estimate.ci95.value()[0] == Approx(0.4778211014293891).epsilon(1e-6));
  CHECK(estimate.ci95.value()[1] == Approx(0.7955776488490756).epsilon(1e-6));
  CHECK(estimate.interval == "crossed");
  const Estimate loss = crossed_estimate(crossed(means(losses(0)), rows(losses(0))), kLoss);
  CHECK(loss.value == Approx(0.906875).epsilon(1e-6));
  CHECK(loss.ci95.value()[0] == Approx(0.7144406417843396).epsilon(1e-5));
  CHECK(loss.ci95.value()[1] == Approx(1.1231689555244804).epsilon(1e-5));
}

TEST_CASE("differences are tested under both sources", "[stats]") {
  const Table deltas = losses(0.8);
  const Difference difference = crossed_difference(crossed(means(deltas), rows(deltas)), kLoss);
  CHECK(difference.delta == Approx(0.106875).epsilon(1e-5));
  CHECK(difference.ci95.value()[0] == Approx(-0.10941895552448049).epsilon(1e-4));
  CHECK(difference.ci95.value()[1] == Approx(0.3231689555244804).epsilon(1e-4));
  CHECK(difference.p.value() == Approx(0.2158904819668928).epsilon(1e-4));
  CHECK(difference.test == "crossed_t");
}

TEST_CASE("seeds that agree are as sure as one of them, not surer", "[stats]") {
  for (const float right : {0.0F, 1.0F}) {
    const Table same(3, std::vector<float>(1000, right));
    const Estimate estimate = crossed_estimate(crossed(means(same), rows(same)), kAccuracy);
    const Estimate one = wilson(right > 0 ? 1000 : 0, 1000);
    const double width = estimate.ci95.value()[1] - estimate.ci95.value()[0];
    CHECK(width >= one.ci95.value()[1] - one.ci95.value()[0] - 1e-12);
    CHECK((estimate.ci95.value()[0] >= 0 && estimate.ci95.value()[1] <= 1));
  }
  const Table nothing(2, std::vector<float>(60, 0));
  const Difference difference = crossed_difference(crossed(means(nothing), rows(nothing)), kAccuracy);
  CHECK(difference.p.value() == 1.0);
  CHECK(difference.ci95.value()[0] < -0.01);
  CHECK(difference.ci95.value()[1] > 0.01);
}

TEST_CASE("an interval over two or three seeds stays in the metric's range", "[stats]") {
  const std::vector<double> far = {0.98, 0.63};
  const MetricInfo matthews{.name = "matthews", .range = {-1, 1}}, bleu{.name = "bleu", .range = {0, 100}};
  for (const MetricInfo& info : {kAccuracy, kLoss, matthews, bleu}) {
    for (const Estimate& estimate : {crossed_estimate(crossed(far, {}), info),
                                     crossed_estimate(crossed(std::vector<double>{1, 0.2, 0.9}, {}), info)}) {
      INFO(info.name);
      CHECK(estimate.ci95.value()[0] >= info.range.low);
      CHECK(estimate.ci95.value()[1] <= info.range.high);
      CHECK(estimate.ci95.value()[0] < estimate.value);
      CHECK(estimate.ci95.value()[1] > estimate.value);
      CHECK(estimate.interval == "t");
    }
  }
}

TEST_CASE("one seed has the variance of its examples, and a single value none", "[stats]") {
  const Table one = {hits().front()};
  const Crossed of = crossed(means(one), rows(one));
  CHECK(of.repetition_variance == 0);
  CHECK(of.example_variance == Approx(0.65 * 0.35 / 19).epsilon(0.2));
  CHECK(of.half_width(0.05) == Approx(2.093024054408263 * std::sqrt(of.example_variance)));  // t of 19
  const Crossed nothing = crossed(std::vector<double>{0.7}, {});
  CHECK_FALSE(crossed_estimate(nothing, kAccuracy).ci95);
  CHECK_FALSE(crossed_difference(nothing, kAccuracy).p);
  CHECK_THROWS_AS(crossed({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(crossed(std::vector<double>{1, 2}, rows(one)), std::invalid_argument);
}

TEST_CASE("the smallest change that tests could find is that of McNemar's exact test", "[stats]") {
  const auto change = [](const std::vector<Difference>& tests, int64_t n) {
    return detectable(tests, n, 0.05, 10000)->change;
  };
  Difference tested;
  tested.test = "mcnemar";
  // 2^-11 < 0.05 / 72 < 2^-10: twelve examples, all one way.
  CHECK(change(std::vector<Difference>(72, tested), 872).value() == Approx(12.0 / 872));
  CHECK(change({tested}, 1000).value() == Approx(6.0 / 1000));
  const Detectable few = *detectable({tested}, 5, 0.05, 10000);  // 2 x 2^-5 is more than 0.05
  CHECK_FALSE(few.change);
  CHECK_FALSE(few.possible());
  CHECK(few.smallest_p == Approx(0.0625));
  CHECK_FALSE(detectable({}, 100, 0.05, 10000));
  Difference other;
  other.test = "paired_bootstrap";
  other.ci95 = {-0.1, 0.3};
  CHECK(change({other}, 100).value() == Approx(0.2));
  CHECK(change(std::vector<Difference>(10, other), 100).value() ==
        Approx(0.2 * 2.807033768343811 / 1.959963984540054).epsilon(1e-9));
}

TEST_CASE("a bootstrap of so many draws gives no p that many tests could star", "[stats]") {
  Difference drawn;
  drawn.test = "paired_bootstrap";
  drawn.ci95 = {-0.1, 0.3};
  // 270 x 2 / 10001 = 0.054
  const Detectable many = *detectable(std::vector<Difference>(270, drawn), 24, 0.05, 10000);
  CHECK_FALSE(many.possible());
  CHECK_FALSE(many.change);
  CHECK(many.smallest_p == Approx(2.0 / 10001));
  CHECK(detectable(std::vector<Difference>(270, drawn), 24, 0.05, 20000)->change);
  drawn.test = "paired_t";  // which knows no such floor
  CHECK(detectable(std::vector<Difference>(270, drawn), 24, 0.05, 10000)->change);
}
