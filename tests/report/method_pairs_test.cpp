#include "report/tables/method_pairs.h"

#include "report/fixture.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

/// The curves of gradient_l1 once more as output_l2's, right on ten of a hundred examples fewer at half of the heads.
void add_output_l2(Record& record) {
  std::map<std::string, PointResult> more;
  for (const auto& [id, point] : record.points) {
    if (point.spec.method != "gradient_l1") continue;
    PointResult twin = point;
    twin.point = "b" + id.substr(1);
    twin.spec.method = "output_l2";
    if (twin.spec.heads_removed == 2) twin.metrics[0].estimate.value -= 0.1;
    more[twin.point] = twin;
  }
  record.points.merge(more);
}

}  // namespace

TEST_CASE("methods of one model are compared at equal heads, example by example", "[methods]") {
  const TestFolder folder;
  Record record = one_seed();
  add_output_l2(record);
  const Sweep without = sweeps_of(record).front();
  CHECK(method_pairs(record, methods_of(without), "accuracy").empty());  // values by example were not kept
  store_examples(record, folder.path());
  const Sweep sweep = sweeps_of(record).front();
  const std::vector<MethodPair> pairs = method_pairs(record, methods_of(sweep), "accuracy");
  REQUIRE(pairs.size() == 1);  // none and all heads removed say nothing of a method, nor do random orders
  CHECK((pairs[0].method_a == "gradient_l1" && pairs[0].method_b == "output_l2" && pairs[0].heads_removed == 2));
  CHECK(pairs[0].difference.delta == Approx(0.1));
  CHECK(pairs[0].difference.test == "mcnemar");
  CHECK(*pairs[0].difference.p == Approx(2.0 / 1024));
  CHECK(*pairs[0].q == Approx(2.0 / 1024));
  CHECK(method_pair_rows(pairs) == TextRows{{"methods", "0.5 "}, {"gradient_l1 - output_l2", "+0.100*"}});
  CHECK_THAT(method_pair_note(record, pairs), ContainsSubstring("* 1 of 1: q < 0.05 (exact McNemar test"));
  CHECK_THAT(methods_csv(record),
             ContainsSubstring("sweep,rule,scope,kind,at_step,metric,method_a,method_b,heads_removed,") &&
                 ContainsSubstring("one_shot,one_shot,global,all,,accuracy,gradient_l1,output_l2,2,4,0.1,") &&
                 ContainsSubstring(",mcnemar,100,1\n"));
}

TEST_CASE("where one model's methods have no test, no number of seeds is blamed", "[methods]") {
  const std::vector<MethodPair> pairs = {{.method_a = "a",
                                          .method_b = "b",
                                          .heads_removed = 2,
                                          .heads_total = 4,
                                          .metric = "loss",
                                          .difference = {.delta = 0.5, .stderr_ = {}, .ci95 = {}, .p = {}, .test = ""},
                                          .q = {},
                                          .n = 100,
                                          .seeds = 1}};
  CHECK(method_pair_note(Record(), pairs) == "No test was possible, so nothing is starred.");
}

TEST_CASE("over few seeds no test between methods is possible, and nothing is starred", "[methods]") {
  const TestFolder folder;
  Record record = two_seeds();
  add_output_l2(record);
  store_examples(record, folder.path());
  const Sweep sweep = sweeps_of(record).front();
  const std::vector<MethodPair> pairs = method_pairs(record, methods_of(sweep), "accuracy");
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].difference.delta == Approx(0.1));
  CHECK(pairs[0].difference.ci95);
  CHECK_FALSE(pairs[0].difference.p);
  CHECK(pairs[0].difference.test.empty());
  CHECK(pairs[0].seeds == 2);
  CHECK(method_pair_rows(pairs)[1][1] == "+0.100 ");
  CHECK_THAT(method_pair_note(record, pairs),
             ContainsSubstring("No test possible between methods over 2 seeds: the smallest p it can give is 0.5."));
}
