// Golden values: statsmodels 0.15.0 contingency_tables.mcnemar(exact=True) and multitest.multipletests("fdr_bh"), scipy
// 1.17.1 stats.permutation_test(permutation_type="samples") over all flips, numpy for the paired standard error.
#include "stats/tests.h"

#include <vector>

#include "support/catch.h"

using namespace headprune;

TEST_CASE("exact McNemar agrees with statsmodels", "[stats]") {
  CHECK(mcnemar_exact(49, 102) == Approx(1.928732148603465e-05).epsilon(1e-9));
  CHECK(mcnemar_exact(102, 49) == mcnemar_exact(49, 102));
  CHECK(mcnemar_exact(0, 5) == Approx(0.0625).epsilon(1e-12));
  CHECK(mcnemar_exact(1, 9) == Approx(0.021484375).epsilon(1e-12));
  CHECK(mcnemar_exact(12, 3) == Approx(0.03515625).epsilon(1e-12));
  CHECK(mcnemar_exact(7, 7) == 1.0);
  CHECK(mcnemar_exact(0, 1) == 1.0);
  CHECK(mcnemar_exact(0, 0) == 1.0);
}

TEST_CASE("the paired accuracy difference is the row that formats.md shows", "[stats]") {
  const Difference difference = paired_accuracy_difference(49, 102, 1821);
  CHECK(difference.delta == Approx(-0.029104887424492038).epsilon(1e-12));
  CHECK(difference.stderr_.value() == Approx(0.006713497401679117).epsilon(1e-9));
  CHECK(difference.ci95.value()[0] == Approx(-0.04226310054208634).epsilon(1e-9));
  CHECK(difference.ci95.value()[1] == Approx(-0.015946674306897737).epsilon(1e-9));
  CHECK(difference.p.value() == Approx(0.000019287321486034632).epsilon(1e-9));
  CHECK(difference.test == "mcnemar");
}

TEST_CASE("models that agree everywhere differ by exactly zero", "[stats]") {
  const Difference difference = paired_accuracy_difference(0, 0, 50);
  CHECK(difference.delta == 0.0);
  CHECK(difference.stderr_.value() == 0.0);
  CHECK(difference.ci95.value()[0] == 0.0);
  CHECK(difference.ci95.value()[1] == 0.0);
  CHECK(difference.p.value() == 1.0);
  CHECK_THROWS_AS(paired_accuracy_difference(3, 3, 5), std::invalid_argument);
}

TEST_CASE("q values agree with statsmodels and keep the order of p", "[stats]") {
  const std::vector<double> q = benjamini_hochberg(std::vector<double>{0.01, 0.04, 0.03, 0.005, 0.55, 0.04, 0.9});
  const std::vector<double> expected = {0.035, 0.056, 0.056, 0.035, 0.6416666666666667, 0.056, 0.9};
  REQUIRE(q.size() == expected.size());
  for (size_t i = 0; i < q.size(); ++i) CHECK(q[i] == Approx(expected[i]).epsilon(1e-12));
  CHECK(benjamini_hochberg({}).empty());
  CHECK(benjamini_hochberg(std::vector<double>{1.0, 1.0}) == std::vector<double>{1.0, 1.0});
}

TEST_CASE("the sign-flip test is exact for few pairs", "[stats]") {
  const std::vector<double> differences = {1.2, -0.3, 0.8, 2.1, 0.5, -0.1, 1.4};
  CHECK(sign_flip_p(differences, Random(1, "flips")).value() == 8.0 / 128);
  const std::vector<double> all_up(5, 0.1);
  CHECK(sign_flip_p(all_up, Random(1, "flips")).value() == 0.0625);
  CHECK(smallest_sign_flip_p(3) == 0.25);
  CHECK(smallest_sign_flip_p(5) == 0.0625);
  CHECK(sign_flip_p(std::vector<double>{0.0, 0.0, 0.0}, Random(1, "flips")).value() == 1.0);
  CHECK_FALSE(sign_flip_p(std::vector<double>{0.4}, Random(1, "flips")));
}

TEST_CASE("the sign-flip test over many pairs is close to the exact one", "[stats]") {
  // 24 equal differences with 17 up, 7 down: the exact p is that of the binomial sign test, 2 P(X <= 7 | 24, 1/2).
  std::vector<double> differences(17, 1.0);
  differences.insert(differences.end(), 7, -1.0);
  const double p = sign_flip_p(differences, Random(3, "flips")).value();
  CHECK(p == Approx(mcnemar_exact(7, 17)).margin(0.003));
  CHECK(p == sign_flip_p(differences, Random(3, "flips")).value());
}
