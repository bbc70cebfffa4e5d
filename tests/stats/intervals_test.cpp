// Golden values: statsmodels 0.15.0 proportion_confint(method="wilson"), scipy 1.17.1 stats.sem, stats.norm.interval,
// stats.t.interval; the weighted mean with numpy by the formula of the header.
#include "stats/intervals.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

using namespace headprune;

TEST_CASE("wilson agrees with statsmodels", "[stats]") {
  struct Case {
    int64_t correct, n;
    double low, high, stderr_;
  };
  for (const Case& c : {Case{1476, 1821, 0.7918985252521543, 0.8278813435869229, 0.009185590629625064},
                        Case{1423, 1821, 0.7618756985883023, 0.7998169323224441, 0.009687201786787098},
                        Case{7, 10, 0.39677814746114537, 0.8922087325936989, 0.15275252316519466},
                        Case{0, 10, 0.0, 0.27753279986288926, 0.0}, Case{10, 10, 0.7224672001371106, 1.0, 0.0}}) {
    const Estimate estimate = wilson(c.correct, c.n);
    CHECK(estimate.value == static_cast<double>(c.correct) / static_cast<double>(c.n));
    CHECK(estimate.n == c.n);
    CHECK(estimate.stderr_.value() == Approx(c.stderr_).epsilon(1e-12));
    CHECK(estimate.ci95.value()[0] == Approx(c.low).epsilon(1e-12));
    CHECK(estimate.ci95.value()[1] == Approx(c.high).epsilon(1e-12));
    CHECK(estimate.interval == "wilson");
  }
}

TEST_CASE("wilson without examples has no number, with one no standard error", "[stats]") {
  CHECK(std::isnan(wilson(0, 0).value));
  CHECK_FALSE(wilson(0, 0).ci95);
  CHECK_FALSE(wilson(1, 1).stderr_);
  CHECK(wilson(1, 1).ci95);
  CHECK_THROWS_AS(wilson(3, 2), std::invalid_argument);
}

TEST_CASE("a mean has the standard error and normal interval of scipy", "[stats]") {
  const std::vector<double> values = {0.3, 1.7, 0.9, 2.2, 0.4, 1.1};
  const Estimate estimate = mean_estimate(values);
  CHECK(estimate.value == Approx(1.1));
  CHECK(estimate.stderr_.value() == Approx(0.30221405217715036).epsilon(1e-12));
  CHECK(estimate.ci95.value()[0] == Approx(0.5076713421108765).epsilon(1e-12));
  CHECK(estimate.ci95.value()[1] == Approx(1.6923286578891232).epsilon(1e-12));
  CHECK(estimate.interval == "normal");
  CHECK(sample_sd(values) == Approx(0.7402702209328699).epsilon(1e-12));
}

TEST_CASE("a mean that is not finite or stands on one value has no interval", "[stats]") {
  const Estimate nan = mean_estimate(std::vector<double>{1.0, NAN, 2.0});
  CHECK(std::isnan(nan.value));
  CHECK(nan.n == 3);
  CHECK_FALSE(nan.stderr_);
  CHECK_FALSE(nan.ci95);
  const Estimate one = mean_estimate(std::vector<double>{2.5});
  CHECK(one.value == 2.5);
  CHECK_FALSE(one.stderr_);
  CHECK(one.interval.empty());
  CHECK(std::isnan(mean_estimate({}).value));
}

TEST_CASE("a weighted mean is the ratio of sums with a linearised standard error", "[stats]") {
  const std::vector<double> values = {0.3, 1.7, 0.9, 2.2, 0.4, 1.1}, weights = {1, 2, 3, 4, 5, 6};
  const Estimate estimate = weighted_mean_estimate(values, weights);
  CHECK(estimate.value == Approx(1.1333333333333335).epsilon(1e-12));
  CHECK(estimate.stderr_.value() == Approx(0.30487101221531576).epsilon(1e-12));
  CHECK(estimate.n == 6);
  const Estimate equal = weighted_mean_estimate(values, std::vector<double>(6, 7.0));
  const Estimate plain = mean_estimate(values);
  CHECK(equal.value == Approx(plain.value).epsilon(1e-12));
  CHECK(equal.stderr_.value() == Approx(plain.stderr_.value()).epsilon(1e-12));
}

TEST_CASE("intervals stay in the range of their metric", "[stats]") {
  const MetricRange loss{0, INFINITY}, none;
  const auto near_zero = interval_in_range({.value = 0.01, .variance = 0.0004}, loss);
  CHECK(near_zero.value()[0] > 0);
  CHECK(near_zero.value()[1] > 0.01);
  CHECK(interval_in_range({.value = 0.01, .variance = 0.0004}, none).value()[0] < 0);
  const auto correlation = interval_in_range({.value = 0.95, .variance = 0.01}, {-1, 1});
  CHECK((correlation.value()[0] > -1 && correlation.value()[1] < 1));
  // Wilson's own interval where the variance is that of n zeros and ones.
  const auto plain = interval_in_range({.value = 0.9, .variance = 0.9 * 0.1 / 200}, {0, 1});
  CHECK(plain.value()[0] == Approx(wilson(180, 200).ci95.value()[0]).epsilon(1e-12));
  CHECK(plain.value()[1] == Approx(wilson(180, 200).ci95.value()[1]).epsilon(1e-12));
  // Few degrees of freedom: further than the normal interval, to the nearer of two ends, and not past the range.
  const auto few = interval_in_range({.value = 0.9995, .variance = 7e-7, .half_width = 0.0076}, {0, 1});
  CHECK(few.value()[0] == Approx(0.9995 - 0.0076));
  CHECK((few.value()[1] <= 1 && few.value()[1] > 0.9995));
  const auto far = interval_in_range({.value = 0.6, .variance = 0.0063, .half_width = 1}, {0, 1});
  CHECK((far.value()[0] > 0 && far.value()[1] < 1));
  const auto small_loss = interval_in_range({.value = 0.6, .variance = 0.01, .half_width = 1.27}, loss);
  CHECK(small_loss.value()[0] > 0);
  CHECK(small_loss.value()[1] == Approx(1.87));
  // Examples that are all alike say nothing of others, unless they are zeros and ones.
  CHECK_FALSE(interval_in_range({.value = 1, .variance = 0}, {-1, 1}));
  CHECK_FALSE(interval_in_range({.value = 0.3, .variance = 0}, none));
  CHECK(interval_in_range({.value = 1, .variance = 0, .least_n = 1000, .most_n = 2000}, {0, 1}).value()[0] ==
        Approx(wilson(1000, 1000).ci95.value()[0]));
  // A mean of a few small losses does not become negative.
  const Estimate mean = mean_estimate(std::vector<double>{0.001, 0.002, 0.4}, loss);
  CHECK(mean.ci95.value()[0] > 0);
  CHECK_FALSE(mean_estimate(std::vector<double>{0.5, 0.5, 0.5}).ci95);
}
