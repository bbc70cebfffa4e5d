// Methods of different sweeps side by side.
#include "report/numbers/contest.h"

#include "report/fixture.h"
#include "report/page/figures.h"
#include "report/tables/contest_table.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

/// A greedy sweep on top: right on five of a hundred examples more than gradient_l1 at half of the heads, for 30
/// passes; and a mask that was learnt, of three heads removed.
void add_others(Record& record) {
  std::map<std::string, PointResult> more;
  for (auto& [id, point] : record.points) {
    if (point.spec.method != "gradient_l1" || point.spec.sweep != "one_shot") continue;
    point.forward = 10;
    point.backward = 10;
    PointResult twin = point;
    twin.point = id + "c";
    twin.spec.method = twin.spec.sweep = twin.spec.rule = "greedy";
    twin.forward = 30;
    twin.backward = 0;
    if (twin.spec.heads_removed == 2) twin.metrics[0].estimate.value += 0.05;
    more[twin.point] = twin;
    if (twin.spec.heads_removed != 2) continue;
    PointResult learnt = twin;
    learnt.point = id + "d";
    learnt.spec.method = learnt.spec.sweep = learnt.spec.rule = "hard_concrete";
    learnt.spec.name = "lambda_0.1";
    learnt.spec.lambda = 0.1;
    learnt.spec.heads_removed = 3;
    learnt.fraction = 0.75;
    more[learnt.point] = learnt;
  }
  record.points.merge(more);
}

}  // namespace

TEST_CASE("one sweep is no contest", "[contest]") {
  const Record record = one_seed();
  CHECK(contests(record).empty());
  CHECK(contest_figures(record).empty());
  CHECK(contest_csv(record).find('\n') == contest_csv(record).size() - 1);  // its header alone
}

TEST_CASE("methods of several sweeps stand at equal heads, the best first, with what they cost", "[contest]") {
  const TestFolder folder;
  Record record = one_seed();
  add_others(record);
  store_examples(record, folder.path());
  const std::vector<Contest> all = contests(record);
  REQUIRE(all.size() == 1);
  CHECK(all[0].removed == std::vector<int64_t>{2});
  CHECK(all[0].controls.size() == 1);
  REQUIRE(all[0].masks.size() == 1);
  const std::vector<NamedCurve> curves = all[0].named();
  REQUIRE(curves.size() == 2);
  CHECK((curves[0].name == "one_shot, gradient_l1" && curves[1].name == "greedy"));

  const std::vector<MethodPair> pairs = method_pairs(record, curves, "accuracy");
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].difference.delta == Approx(-0.05));
  const TextRows rows = contest_rows(record, all[0], pairs);
  REQUIRE(rows.size() == 4);
  CHECK(rows[1][0] == "0.5");
  CHECK(rows[1][1] == "greedy");
  CHECK(rows[1][3].find_first_not_of(' ') == std::string::npos);  // the best is not behind itself
  CHECK((rows[1][4] == "30" && rows[1][5] == "0"));
  CHECK(rows[2][1] == "one_shot, gradient_l1");
  CHECK(rows[2][3] == "-0.050 ");  // p of five against none is 0.0625
  CHECK((rows[2][4] == "10" && rows[2][5] == "10"));
  CHECK(rows[3][1] == "random");
  CHECK_THAT(rows[3][2], ContainsSubstring(" to "));
  CHECK(cost_of(*curves[0].at(2)).forward_equivalents() == 30);

  const std::string csv = contest_csv(record);
  CHECK_THAT(csv, ContainsSubstring("all,greedy,greedy,2,4,accuracy,0.9,"));
  CHECK_THAT(csv, ContainsSubstring("all,hard_concrete,hard_concrete lambda_0.1,3,4,accuracy,"));
  CHECK_THAT(methods_csv(record), ContainsSubstring(",,,all,,accuracy,\"one_shot, gradient_l1\",greedy,2,4,"));
  const std::vector<Figure> figures = contest_figures(record);
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].panels.size() == 2);
  CHECK_THAT(figures[0].document(), ContainsSubstring("hard_concrete, seed 1"));
}

TEST_CASE("a mask that was learnt stands by seed, also where seeds share one model", "[contest]") {
  Record record = one_model_two_seeds();
  add_others(record);
  const std::vector<MaskList> lists = mask_lists(record);
  REQUIRE(lists.size() == 2);
  CHECK((lists[0].seed == 1 && lists[1].seed == 2));
  CHECK_FALSE(lists[0].of_models());
}
