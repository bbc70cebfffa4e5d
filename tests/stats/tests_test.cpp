// Golden values: statsmodels 0.15.0 contingency_tables.mcnemar(exact=True) and multitest.multipletests("fdr_bh"), scipy
// 1.17.1 stats.permutation_test(permutation_type="samples") over all flips, numpy for the paired standard
// error; tests/golden/crossed_intervals.py for Bonett and Price, and Welch.
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

TEST_CASE("the paired accuracy difference is the row that docs/formats.md section 8 shows", "[stats]") {
  const Difference difference = paired_accuracy_difference(49, 102, 1821);
  CHECK(difference.delta == Approx(-0.029104887424492038).epsilon(1e-12));
  CHECK(difference.stderr_.value() == Approx(0.006713497401679117).epsilon(1e-9));
  CHECK(difference.ci95.value()[0] == Approx(-0.042304458946347524).epsilon(1e-9));
  CHECK(difference.ci95.value()[1] == Approx(-0.015841454383328832).epsilon(1e-9));
  CHECK(difference.p.value() == Approx(0.000019287321486034632).epsilon(1e-9));
  CHECK(difference.test == "mcnemar");
}

TEST_CASE("models that agree everywhere differ by exactly zero", "[stats]") {
  const Difference difference = paired_accuracy_difference(0, 0, 50);
  CHECK(difference.delta == 0.0);
  CHECK(difference.stderr_.value() == 0.0);
  CHECK(difference.ci95.value()[0] == Approx(-0.053303993244218376));  // 50 examples are not certain
  CHECK(difference.ci95.value()[1] == Approx(0.053303993244218376));
  CHECK(difference.p.value() == 1.0);
  CHECK_THROWS_AS(paired_accuracy_difference(3, 3, 5), std::invalid_argument);
}

TEST_CASE("an interval of a paired difference agrees with its exact test", "[stats]") {
  const Difference five_lost = paired_accuracy_difference(0, 5, 1000);
  CHECK(five_lost.p.value() == Approx(0.0625));
  CHECK(five_lost.ci95.value()[0] == Approx(-0.010156015524651113).epsilon(1e-9));
  CHECK(five_lost.ci95.value()[1] > 0);
  for (int64_t gained = 0; gained < 6; ++gained) {
    for (int64_t lost = 0; lost < 30; ++lost) {
      const Difference one = paired_accuracy_difference(gained, lost, 1000);
      const bool leaves_out_zero = one.ci95.value()[0] > 0 || one.ci95.value()[1] < 0;
      INFO(gained << " gained, " << lost << " lost");
      CHECK((!leaves_out_zero || one.p.value() < 0.08));
    }
  }
}

TEST_CASE("Welch's test agrees with scipy, and needs two values on both sides", "[stats]") {
  const std::vector<double> a = {0.81, 0.79, 0.82}, b = {0.84, 0.80, 0.86, 0.85};
  const Difference difference = welch(a, b);
  CHECK(difference.delta == Approx(0.03083333333333338).epsilon(1e-10));
  CHECK(difference.p.value() == Approx(0.11096605762881136).epsilon(1e-9));
  CHECK(difference.ci95.value()[0] == Approx(-0.01028187626401375).epsilon(1e-8));
  CHECK(difference.ci95.value()[1] == Approx(0.07194854293068051).epsilon(1e-8));
  CHECK(difference.test == "welch");
  CHECK_FALSE(welch(a, std::vector<double>{0.9}).p);
  CHECK_FALSE(welch(std::vector<double>{0.9, 0.9}, std::vector<double>{0.8, 0.8}).p);
  CHECK(welch(a, std::vector<double>{0.9}).delta == Approx(0.0933333333333333));
}

TEST_CASE("q values agree with statsmodels and keep the order of p", "[stats]") {
  const std::vector<double> q = benjamini_hochberg(std::vector<double>{0.01, 0.04, 0.03, 0.005, 0.55, 0.04, 0.9});
  const std::vector<double> expected = {0.035, 0.056, 0.056, 0.035, 0.6416666666666667, 0.056, 0.9};
  REQUIRE(q.size() == expected.size());
  for (size_t i = 0; i < q.size(); ++i) CHECK(q[i] == Approx(expected[i]).epsilon(1e-12));
  TestFamily family;
  std::optional<double> same[2], others[2], alone;
  family.add(0.01, same[0], "a");
  family.add(0.01, same[1], "a");
  family.add(0.04, others[0]);
  family.add(0.04, others[1]);
  family.add(0.5, alone, "b");
  family.correct();
  CHECK((*same[0] == Approx(0.04) && *same[1] == Approx(0.04)));  // 0.01 of four tests
  CHECK((*others[0] == Approx(0.16 / 3) && *others[1] == Approx(0.16 / 3)));
  CHECK(*alone == Approx(0.5));
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
