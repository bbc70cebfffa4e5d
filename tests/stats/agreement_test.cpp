// Golden values: scipy 1.17.1 stats.spearmanr and stats.kendalltau; permutation counts by itertools over them.
#include "stats/agreement.h"

#include <vector>

#include "support/catch.h"

using namespace headprune;

namespace {

double p_of(AgreementStatistic statistic, const std::vector<double>& a, const std::vector<double>& b, int64_t k = 0) {
  ChanceOrders chance(1, "agreement", 10000);
  return agreement({statistic, k}, a, b, &chance).p.value();
}

}  // namespace

TEST_CASE("rank correlations with ties agree with scipy", "[stats]") {
  const std::vector<double> a = {1, 2, 2, 3, 5, 4, 7, 6.5}, b = {2, 1, 3, 3, 3, 6, 5, 9};
  CHECK(spearman(a, b).value() == Approx(0.7731370925362602).epsilon(1e-12));
  CHECK(kendall_tau_b(a, b).value() == Approx(0.6158402871356008).epsilon(1e-12));
}

TEST_CASE("rank correlations of two hundred tied values agree with scipy", "[stats]") {
  std::vector<int64_t> stream;
  int64_t state = 1;
  for (int i = 0; i < 400; ++i) {
    state = (state * 1103515245 + 12345) % (int64_t{1} << 31);
    stream.push_back(state >> 16);
  }
  std::vector<double> a, b;
  for (size_t i = 0; i < 200; ++i) {
    a.push_back(static_cast<double>(stream[i] % 17));
    b.push_back(a.back() + static_cast<double>(stream[200 + i] % 9));
  }
  CHECK(spearman(a, b).value() == Approx(0.8897910999425733).epsilon(1e-12));
  CHECK(kendall_tau_b(a, b).value() == Approx(0.734910287055922).epsilon(1e-12));
}

TEST_CASE("agreement is one, minus one or undefined at the ends", "[stats]") {
  const std::vector<double> up = {1, 2, 3, 4}, down = {9, 7, 5, 3}, flat = {2, 2, 2, 2};
  CHECK(spearman(up, up).value() == Approx(1));
  CHECK(kendall_tau_b(up, down).value() == Approx(-1));
  CHECK_FALSE(spearman(up, flat));
  CHECK_FALSE(kendall_tau_b(flat, up));
  CHECK_FALSE(spearman(std::vector<double>{1}, std::vector<double>{1}));
  ChanceOrders chance(1, "agreement");
  CHECK_FALSE(agreement({AgreementStatistic::spearman}, up, flat, &chance).p);
}

TEST_CASE("top-k overlap counts the heads that go first", "[stats]") {
  const std::vector<double> a = {0.1, 0.2, 0.3, 0.4, 0.5}, b = {0.2, 0.9, 0.1, 0.3, 0.8};
  CHECK(topk_jaccard(a, b, 0) == 1.0);
  CHECK(topk_jaccard(a, b, 1) == 0.0);              // {0} and {2}
  CHECK(topk_jaccard(a, b, 2) == Approx(1.0 / 3));  // {0, 1} and {2, 0}
  CHECK(topk_jaccard(a, b, 3) == Approx(0.5));      // {0, 1, 2} and {2, 0, 3}
  CHECK(topk_jaccard(a, b, 5) == 1.0);
  // Ties go by position, as orders break them.
  CHECK(topk_jaccard(std::vector<double>{1, 1, 1}, std::vector<double>{0, 1, 1}, 2) == 1.0);
}

TEST_CASE("permutation p is exact for few heads", "[stats]") {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6}, b = {2, 1, 4, 3, 6, 5};
  CHECK(p_of(AgreementStatistic::spearman, a, b) == 42.0 / 720);
  CHECK(p_of(AgreementStatistic::kendall_tau_b, a, b) == 98.0 / 720);
  // Two of six in common, in the best case: both of the first two. 1 of 15 pairs.
  CHECK(p_of(AgreementStatistic::topk_jaccard, a, b, 2) == Approx(1.0 / 15));
}

TEST_CASE("without chance orders there is the value and no p", "[stats]") {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {2, 1, 3, 4, 5, 6, 7, 8};
  const Agreement result = agreement({AgreementStatistic::spearman}, a, b);
  CHECK(result.value.value() == Approx(1 - 6.0 * 2 / (8 * 63)));
  CHECK_FALSE(result.p);
}

TEST_CASE("p of more heads is exact where it can be, else seeded", "[stats]") {
  // Ten heads, the same five first: the hypergeometric chance is 1 / 252.
  std::vector<double> a, b;
  for (int i = 0; i < 10; ++i) {
    a.push_back(i);
    b.push_back(i < 5 ? 4 - i : i);
  }
  CHECK(p_of(AgreementStatistic::topk_jaccard, a, b, 5) == Approx(1.0 / 252));
  CHECK(p_of(AgreementStatistic::topk_jaccard, a, b, 10) == Approx(1.0));
  // scipy 1.17.1: kendalltau(a, b, method="exact").pvalue
  CHECK(p_of(AgreementStatistic::kendall_tau_b, a, b) == Approx(0.02860945767195767).epsilon(1e-12));
  CHECK(p_of(AgreementStatistic::kendall_tau_b, a, a) == Approx(2.0 / 3628800));
  CHECK(p_of(AgreementStatistic::spearman, a, a) == Approx(1.0 / 10001).margin(3e-4));
  CHECK(p_of(AgreementStatistic::spearman, a, b) == p_of(AgreementStatistic::spearman, a, b));
  CHECK(std::string(to_string(AgreementStatistic::kendall_tau_b)) == "kendall_tau_b");
}

TEST_CASE("Kendall's exact p is that of shuffling, and ties are shuffled", "[stats]") {
  std::vector<double> a, b, tied;
  for (int i = 0; i < 60; ++i) {
    a.push_back(i);
    b.push_back(i * 37 % 60 + 0.3 * i);
    tied.push_back(i * 37 % 60 / 4 + i / 20);  // whole numbers, many of them equal
  }
  // scipy 1.17.1: kendalltau(a, b, method="exact"), and permutation_test of kendalltau(a, tied) with 20,000 shuffles
  CHECK(p_of(AgreementStatistic::kendall_tau_b, a, b) == Approx(0.010122393095454953).epsilon(1e-9));
  CHECK(p_of(AgreementStatistic::kendall_tau_b, a, tied) == Approx(0.088).margin(0.01));
  CHECK(p_of(AgreementStatistic::kendall_tau_b, tied, a) == Approx(0.088).margin(0.01));
}
