// Expected values: scipy 1.17.1, stats.pearsonr, stats.spearmanr and stats.bootstrap(paired=True, vectorized=False,
// method="BCa", n_resamples=20000, rng=default_rng(1)); with 10,000 resamples of ours the end points carry Monte Carlo
// noise, hence the margins.
#include "stats/correlation.h"

#include "stats/agreement.h"
#include "stats/bootstrap.h"
#include "support/catch.h"

using namespace headprune;

namespace {

const std::vector<double> kA = {0.3, 1.2, 2.5, 2.5, 3.1, 4.0, 0.9, 2.2, 1.7, 3.6,
                                4.4, 0.1, 2.9, 1.1, 3.3, 2.0, 4.8, 0.6, 1.5, 3.9};
const std::vector<double> kB = {0.5, 0.9, 1.9, 2.8, 2.6, 4.1, 1.5, 1.4, 2.6, 2.7,
                                3.1, 0.4, 3.5, 0.2, 2.6, 2.9, 3.3, 1.8, 0.7, 4.6};

PairSums sums_of(const std::vector<double>& a, const std::vector<double>& b) {
  PairSums sums{.n = static_cast<double>(a.size())};
  for (size_t i = 0; i < a.size(); ++i) {
    sums.a += a[i];
    sums.b += b[i];
    sums.aa += a[i] * a[i];
    sums.bb += b[i] * b[i];
    sums.ab += a[i] * b[i];
  }
  return sums;
}

}  // namespace

TEST_CASE("Pearson's correlation of sums agrees with scipy and is 0 of a constant", "[stats]") {
  CHECK(correlation_of_sums(sums_of(kA, kB)) == Approx(0.8234629103800032).epsilon(1e-12));
  CHECK(correlation_of_sums(sums_of({1, 2, 3}, {2, 4, 6})) == 1);
  CHECK(correlation_of_sums(sums_of({1, 2, 3}, {-2, -4, -6})) == -1);
  CHECK(correlation_of_sums(sums_of({1, 2, 3}, {5, 5, 5})) == 0);
  CHECK(correlation_of_sums(sums_of({0.1, 0.1, 0.1}, {1, 2, 4})) == 0);
}

TEST_CASE("Spearman's rho of counts is that of the pairs written out", "[stats]") {
  const SpearmanOfCounts spearman_of(kA, kB);
  const std::vector<uint8_t> once(kA.size(), 1);
  CHECK(spearman_of(once) == Approx(0.8323922451355044).epsilon(1e-12));
  CHECK(spearman_of(once) == Approx(spearman(kA, kB).value()).epsilon(1e-12));
  Random random(3, "counts");
  for (int round = 0; round < 20; ++round) {
    std::vector<uint8_t> counts;
    std::vector<double> a, b;
    for (size_t i = 0; i < kA.size(); ++i) {
      counts.push_back(static_cast<uint8_t>(random.below(4)));
      a.insert(a.end(), counts.back(), kA[i]);
      b.insert(b.end(), counts.back(), kB[i]);
    }
    CHECK(spearman_of(counts) == Approx(spearman(a, b).value()).epsilon(1e-12));
  }
  CHECK(SpearmanOfCounts(std::vector<double>{1, 2, 3}, std::vector<double>{7, 7, 7})(std::vector<uint8_t>{1, 1, 1}) ==
        0);
  CHECK(SpearmanOfCounts(std::vector<double>{1, 2, 3}, std::vector<double>{7, 8, 9})(std::vector<uint8_t>{0, 5, 0}) ==
        0);
}

TEST_CASE("the bootstrap of counts agrees with scipy, and its resamples are those of sums", "[stats]") {
  const Bootstrap bootstrap(kA.size(), 10000, 2);
  const Estimate rho = bootstrap_estimate(bootstrap.resample(SpearmanOfCounts(kA, kB)));
  CHECK(rho.value == Approx(0.8323922451355044).epsilon(1e-12));
  CHECK(rho.stderr_.value() == Approx(0.0726390170465136).epsilon(0.05));
  CHECK(rho.ci95.value()[0] == Approx(0.6890849849790198).margin(0.04));
  CHECK(rho.ci95.value()[1] == Approx(0.9357978258222164).margin(0.015));

  const Columns data{kA.size(), {kA}};
  const Resampled sums = bootstrap.resample(data, [](std::span<const double> all) { return all[0]; });
  const Resampled counts = bootstrap.resample([](std::span<const uint8_t> times) {
    double sum = 0;
    for (size_t i = 0; i < kA.size(); ++i) sum += times[i] * kA[i];
    return sum;
  });
  REQUIRE(counts.draws.size() == sums.draws.size());
  for (size_t d = 0; d < sums.draws.size(); ++d) REQUIRE(counts.draws[d] == Approx(sums.draws[d]).epsilon(1e-12));
  REQUIRE(counts.leave_one_out.size() == kA.size());
  for (size_t i = 0; i < kA.size(); ++i) CHECK(counts.leave_one_out[i] == Approx(sums.leave_one_out[i]).epsilon(1e-12));
}
