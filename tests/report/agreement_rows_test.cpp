#include "report/numbers/agreement_rows.h"

#include "report/fixture.h"
#include "report/tables/tables.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

const AgreementRow* find(const std::vector<AgreementRow>& rows, const std::string& comparison,
                         const std::string& statistic, std::optional<int64_t> layer) {
  for (const AgreementRow& row : rows) {
    if (row.comparison == comparison && row.statistic == statistic && row.layer == layer) return &row;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("methods are compared over all heads and per block", "[agreement]") {
  // gradient_l1 ranks 1 4 2 3, output_l2 1 3 2 4: rho = 1 - 6 * 2 / (4 * 15) = 0.8; of six pairs one is in another
  // order: tau = (5 - 1) / 6; the two lowest are heads 0 and 2 on both sides.
  const std::vector<AgreementRow> rows = agreement_rows(one_seed());
  const AgreementRow* spearman = find(rows, "methods", "spearman", std::nullopt);
  REQUIRE(spearman != nullptr);
  CHECK(spearman->method_a == "gradient_l1");
  CHECK(spearman->method_b == "output_l2");
  CHECK(*spearman->value == Approx(0.8));
  CHECK(spearman->n == 4);
  // Of the 24 orders, 8 have |rho| >= 0.8 (rho is +-1 twice, +-0.8 six times).
  CHECK(*spearman->p == Approx(8.0 / 24.0));
  CHECK(*find(rows, "methods", "kendall_tau_b", std::nullopt)->value == Approx(4.0 / 6.0));
  const AgreementRow* top = find(rows, "methods", "topk_jaccard", std::nullopt);
  CHECK(*top->k == 2);
  CHECK(*top->value == 1.0);
  CHECK(*find(rows, "methods", "spearman", 0)->value == Approx(1.0));
  CHECK(find(rows, "methods", "spearman", 0)->kind == "encoder");
  CHECK(find(rows, "seeds", "spearman", std::nullopt) == nullptr);
}

TEST_CASE("a method is compared with itself between seeds that share their heads, random controls with nothing",
          "[agreement]") {
  Record record = two_seeds();
  for (const AgreementRow& row : agreement_rows(record)) CHECK(row.comparison == "methods");  // trained from scratch
  record.facts->seeds_differ_in = SeedsDifferIn::fine_tuning;
  for (const int64_t seed : {1, 2}) {
    record.scores[{seed, "random", 0, "", -1}] = record.scores.at({seed, "gradient_l1", 0, "", -1});
  }
  const std::vector<AgreementRow> rows = agreement_rows(record);
  // gradient_l1: 1 4 2 3 against 1 4 2 0.5, ranks 1 4 2 3 and 2 4 3 1: rho = 1 - 6 * (1 + 1 + 4) / 60 = 0.4.
  const AgreementRow* seeds = find(rows, "seeds", "spearman", std::nullopt);
  REQUIRE(seeds != nullptr);
  CHECK(seeds->method_a == "gradient_l1");
  CHECK(seeds->seed_a == 1);
  CHECK(seeds->seed_b == 2);
  CHECK(*seeds->value == Approx(0.4));
  for (const AgreementRow& row : rows) {
    CHECK(row.method_a != "random");
    CHECK(row.method_b != "random");
  }
  CHECK_THAT(agreement_csv(rows),
             ContainsSubstring("comparison,method_a,method_b,seed_a,seed_b,draw_a,draw_b,kind,layer,statistic,k,value,"
                               "stderr,p,n\nmethods,gradient_l1,output_l2,1,1,0,0,all,,kendall_tau_b,,0.66"));
}

TEST_CASE("a method is compared with itself over halves of the examples", "[agreement]") {
  Record record = one_seed();
  auto& blocks = record.scores.at({1, "gradient_l1", 0, "", -1}).blocks;
  blocks.at({Kind::encoder, 0}).halves = {std::vector<double>{1, 4}, {2, 4}};
  blocks.at({Kind::encoder, 1}).halves = {std::vector<double>{2, 3}, {3, 1}};
  const std::vector<AgreementRow> rows = agreement_rows(record);
  // 1 4 2 3 against 2 4 3 1: rho 0.4.
  const AgreementRow* halves = find(rows, "halves", "spearman", std::nullopt);
  REQUIRE(halves != nullptr);
  CHECK((halves->method_a == "gradient_l1" && halves->method_b == "gradient_l1" && halves->seed_a == halves->seed_b));
  CHECK(*halves->value == Approx(0.4));
  for (const AgreementRow& row : rows)
    if (row.comparison == "halves") CHECK(row.method_a == "gradient_l1");  // output_l2 kept none
}

TEST_CASE("an undefined agreement is an empty field", "[agreement]") {
  Record record = one_seed();
  for (auto& [id, block] : record.scores.at({1, "output_l2", 0, "", -1}).blocks) block.scores = {1, 1};
  const std::vector<AgreementRow> rows = agreement_rows(record);
  CHECK_FALSE(find(rows, "methods", "spearman", std::nullopt)->value);
  CHECK_THAT(agreement_csv(rows), ContainsSubstring("methods,gradient_l1,output_l2,1,1,0,0,all,,spearman,,,,,4\n"));
}
