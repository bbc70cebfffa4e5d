// Golden intervals: scipy 1.17.1 stats.bootstrap(method="BCa", n_resamples=400000, rng=default_rng(1)); with 10,000
// resamples of ours the end points carry Monte Carlo noise, hence the margins.
#include "stats/bootstrap.h"

#include <cmath>
#include <vector>

#include "core/random.h"
#include "stats/intervals.h"
#include "support/catch.h"

using namespace headprune;

namespace {

const std::vector<double> kSkewed = {0.1, 0.2, 0.15, 0.9, 3.2,  0.4, 0.05, 1.1,  0.6,  0.3,
                                     2.4, 0.7, 0.25, 0.8, 0.35, 5.1, 0.45, 0.55, 0.12, 1.9};

Columns one_column(std::vector<double> values) {
  const size_t n = values.size();
  return {n, {std::move(values)}};
}

SumStatistic mean_over(size_t n) {
  return [n](std::span<const double> sums) { return sums[0] / static_cast<double>(n); };
}

}  // namespace

TEST_CASE("BCa intervals of a skewed sample agree with scipy", "[stats]") {
  const Bootstrap bootstrap(kSkewed.size(), 10000, 2);
  const Estimate mean = bootstrap_estimate(bootstrap.resample(one_column(kSkewed), mean_over(20)));
  CHECK(mean.value == Approx(0.981));
  CHECK(mean.stderr_.value() == Approx(0.2780507542029755).epsilon(0.03));
  CHECK(mean.ci95.value()[0] == Approx(0.5795).margin(0.02));
  CHECK(mean.ci95.value()[1] == Approx(1.7725).margin(0.06));
  CHECK(mean.interval == "bca");
  CHECK(mean.n == 20);

  Columns squares = one_column(kSkewed);
  squares.columns.push_back({});
  for (double value : kSkewed) squares.columns[1].push_back(value * value);
  const Estimate variance = bootstrap_estimate(bootstrap.resample(
      squares, [](std::span<const double> sums) { return sums[1] / 20 - sums[0] / 20 * sums[0] / 20; }));
  CHECK(variance.value == Approx(1.545609));
  CHECK(variance.ci95.value()[0] == Approx(0.47988557901568074).margin(0.03));
  CHECK(variance.ci95.value()[1] == Approx(4.179941959265655).margin(0.25));
}

TEST_CASE("BCa intervals commute with a monotone transformation", "[stats]") {
  // A percentile-t or normal interval would not: BCa is transformation respecting (Efron and Tibshirani 1993, 14.3).
  const Bootstrap bootstrap(kSkewed.size(), 10000, 2);
  const Estimate perplexity = bootstrap_estimate(
      bootstrap.resample(one_column(kSkewed), [](std::span<const double> sums) { return std::exp(sums[0] / 20); }));
  CHECK(perplexity.ci95.value()[0] == Approx(1.7806883445996127).margin(0.04));
  CHECK(perplexity.ci95.value()[1] == Approx(5.826986666901473).margin(0.35));
}

TEST_CASE("resamples are a function of seed, name and size", "[stats]") {
  const Columns data = one_column(kSkewed);
  const auto draws = [&](uint64_t seed, const char* name) {
    return Bootstrap(20, 1000, seed, name).resample(data, mean_over(20)).draws;
  };
  CHECK(draws(1, "bootstrap") == draws(1, "bootstrap"));
  CHECK(draws(1, "bootstrap") != draws(2, "bootstrap"));
  CHECK(draws(1, "bootstrap") != draws(1, "other"));
  // More resamples begin with the same ones, block by block.
  const std::vector<double> few = draws(1, "bootstrap");
  const std::vector<double> many = Bootstrap(20, 2000, 1).resample(data, mean_over(20)).draws;
  CHECK(std::equal(few.begin(), few.begin() + 512, many.begin()));
}

TEST_CASE("every resample has n rows and every example is as likely", "[stats]") {
  const size_t n = 50;
  Columns data{n, {std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)}};
  data.columns[1].front() = 1;
  data.columns[2].back() = 1;
  double first = 0, last = 0;
  const Bootstrap bootstrap(n, 20000, 5);
  const Resampled rows = bootstrap.resample(data, [&](std::span<const double> sums) {
    first += sums[1];
    last += sums[2];
    return sums[0];
  });
  REQUIRE(rows.draws.size() == 20000);
  CHECK(std::all_of(rows.draws.begin(), rows.draws.end(), [](double count) { return count == 50; }));
  // Binomial(1,000,000, 1/50): sd 140.
  CHECK(first == Approx(20000).margin(700));
  CHECK(last == Approx(20000).margin(700));
}

TEST_CASE("resamples that are not stored give the same numbers", "[stats]") {
  Columns data = one_column(kSkewed);
  data.columns.push_back(std::vector<double>(20, 0.0));
  data.columns[1][4] = 1;
  const SumStatistic statistic = [](std::span<const double> sums) { return sums[0] + 100 * sums[1]; };
  const Resampled stored = Bootstrap(20, 1300, 3).resample(data, statistic);
  const Resampled anew = Bootstrap(20, 1300, 3, "bootstrap", /*max_stored=*/0).resample(data, statistic);
  CHECK(stored.draws.size() == 1300);
  CHECK(stored.draws == anew.draws);
  CHECK(stored.leave_one_out == anew.leave_one_out);
}

TEST_CASE("when all resamples agree there is no interval: the examples say nothing of others", "[stats]") {
  const Bootstrap bootstrap(30, 1000, 1);
  const Estimate estimate =
      bootstrap_estimate(bootstrap.resample(one_column(std::vector<double>(30, 0.1)), mean_over(30)));
  CHECK(estimate.value == Approx(0.1));
  CHECK_FALSE(estimate.stderr_);
  CHECK_FALSE(estimate.ci95);
}

TEST_CASE("pseudo-values of a mean are its examples", "[stats]") {
  Columns columns = one_column(kSkewed);
  columns.columns.emplace_back(20, 1.0);
  const std::vector<double> pseudo =
      Bootstrap(20, 10, 1)
          .resample(columns, [](std::span<const double> sums) { return sums[0] / sums[1]; })
          .pseudo_values();
  REQUIRE(pseudo.size() == 20);
  for (size_t i = 0; i < 20; ++i) CHECK(pseudo[i] == Approx(kSkewed[i]).margin(1e-9));
}

TEST_CASE("a paired difference of a model with itself is exactly zero with p = 1", "[stats]") {
  const Bootstrap bootstrap(20, 1000, 1);
  const Resampled resampled = bootstrap.resample(one_column(kSkewed), mean_over(20));
  const Difference difference = paired_bootstrap(resampled, resampled);
  CHECK(difference.delta == 0.0);
  CHECK_FALSE(difference.ci95);
  CHECK(difference.p.value() == 1.0);
  CHECK(difference.test == "paired_bootstrap");
}

TEST_CASE("a change that is the same in every example has no test, as it has no interval", "[stats]") {
  const Bootstrap bootstrap(20, 1000, 1);
  std::vector<double> moved = kSkewed;
  for (double& value : moved) value += 0.5;
  const Difference difference = paired_bootstrap(bootstrap.resample(one_column(moved), mean_over(20)),
                                                 bootstrap.resample(one_column(kSkewed), mean_over(20)));
  CHECK(difference.delta == Approx(0.5));
  CHECK_FALSE(difference.ci95);
  CHECK_FALSE(difference.p);
  CHECK(difference.test.empty());
}

TEST_CASE("the paired difference of means has the paired standard error", "[stats]") {
  Random random(9, "data");
  const size_t n = 400;
  std::vector<double> base(n), pruned(n), differences(n);
  for (size_t i = 0; i < n; ++i) {
    base[i] = 2 * random.normal();  // common to both: an unpaired test would drown in it
    pruned[i] = base[i] + 0.1 + 0.5 * random.normal();
    differences[i] = pruned[i] - base[i];
  }
  const Bootstrap bootstrap(n, 10000, 1);
  const Difference difference = paired_bootstrap(bootstrap.resample(one_column(pruned), mean_over(n)),
                                                 bootstrap.resample(one_column(base), mean_over(n)));
  const Estimate truth = mean_estimate(differences);
  CHECK(difference.delta == Approx(truth.value).epsilon(1e-9));
  CHECK(difference.stderr_.value() == Approx(truth.stderr_.value()).epsilon(0.05));
  CHECK(difference.ci95.value()[0] == Approx(truth.ci95.value()[0]).margin(0.01));
  CHECK(difference.ci95.value()[1] == Approx(truth.ci95.value()[1]).margin(0.01));
  const double z = truth.value / truth.stderr_.value();
  CHECK(difference.p.value() == Approx(std::erfc(std::abs(z) / std::sqrt(2.0))).margin(0.002));
}

TEST_CASE("a difference beyond every resample has the smallest p, not zero", "[stats]") {
  const Bootstrap bootstrap(20, 999, 1);
  std::vector<double> shifted = kSkewed;
  for (size_t i = 0; i < shifted.size(); ++i) shifted[i] += 10 + 0.01 * static_cast<double>(i);
  const Difference difference = paired_bootstrap(bootstrap.resample(one_column(shifted), mean_over(20)),
                                                 bootstrap.resample(one_column(kSkewed), mean_over(20)));
  CHECK(difference.p.value() == Approx(2.0 / 1000));
}

TEST_CASE("statistics that are not finite have a value and no interval", "[stats]") {
  const Bootstrap bootstrap(20, 100, 1);
  std::vector<double> values = kSkewed;
  values[3] = INFINITY;
  const Resampled infinite = bootstrap.resample(one_column(values), mean_over(20));
  CHECK(std::isinf(infinite.value));
  CHECK_FALSE(bootstrap_estimate(infinite).ci95);
  // Finite on the data, undefined on resamples that miss the only positive example.
  std::vector<double> rare(20, 0.0);
  rare[0] = 1;
  const Resampled undefined =
      bootstrap.resample(one_column(rare), [](std::span<const double> sums) { return 1 / sums[0]; });
  const Estimate estimate = bootstrap_estimate(undefined);
  CHECK(estimate.value == 1.0);
  CHECK_FALSE(estimate.stderr_);
  const Difference difference = paired_bootstrap(undefined, undefined);
  CHECK(difference.delta == 0.0);
  CHECK_FALSE(difference.p);
  CHECK(difference.test.empty());
}

// scipy 1.17.1: trim_mean(seeds, 0.25), and the percentiles of 100,000 resamples of it.
TEST_CASE("the interquartile mean of ten seeds and more is scipy's", "[stats]") {
  const std::vector<double> seeds = {0.81, 0.84, 0.80, 0.86, 0.83, 0.79, 0.85, 0.82, 0.60, 0.88, 0.84, 0.83};
  const Estimate middle = interquartile_mean(seeds).value();
  CHECK(middle.value == Approx(0.8283333333333333));
  CHECK((*middle.ci95)[0] == Approx(0.805).margin(0.003));
  CHECK((*middle.ci95)[1] == Approx(0.845).margin(0.003));
  CHECK(middle.n == 12);
  CHECK_FALSE(interquartile_mean(std::span(seeds).first(9)));
  std::vector<double> broken = seeds;
  broken[3] = std::nan("");
  CHECK_FALSE(interquartile_mean(broken));
}
