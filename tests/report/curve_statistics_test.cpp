#include "report/curve_statistics.h"

#include "report/fixture.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

TEST_CASE("areas and fractions of a curve, by hand", "[curve_statistics]") {
  const Record record = one_seed();  // accuracy 0.9, 0.85, 0.5 at 0, 0.5, 1; random 0.9, (0.7 + 0.6) / 2, 0.5
  const std::vector<Sweep> sweeps = sweeps_of(record);
  REQUIRE(sweeps.size() == 1);
  const auto all = curve_statistics(record, sweeps[0], "accuracy");
  REQUIRE(all.size() == 2);
  CHECK(all[0].method == "gradient_l1");
  CHECK(all[0].area->value == Approx(0.5 * (0.9 + 0.85) / 2 + 0.5 * (0.85 + 0.5) / 2));
  CHECK(all[0].random->difference.delta == Approx(0.775 - 0.675));
  CHECK_FALSE(all[0].area->ci95);  // no values by example were kept
  CHECK(all[1].method == "random");
  CHECK_FALSE(all[1].random);
}

TEST_CASE("a fraction may go where the drop's interval stays within the limit", "[curve_statistics]") {
  Record record = one_seed();
  // At half, the drop is 0.05 -+ 0.01: its interval passes 0.05.
  auto all = curve_statistics(record, sweeps_of(record)[0], "accuracy");
  for (size_t limit = 0; limit < 3; ++limit) {
    CHECK(all[0].within[limit].fraction == 0);
    CHECK_FALSE(all[0].within[limit].drop);
  }
  for (auto& [id, point] : record.points)
    if (point.spec.method == "gradient_l1" && point.spec.heads_removed == 2)
      point.metrics[0].difference->ci95 = {-0.045, 0.002};
  all = curve_statistics(record, sweeps_of(record)[0], "accuracy");
  CHECK(all[0].within[1].fraction == 0);
  CHECK(all[0].within[2].fraction == 0.5);
  CHECK((*all[0].within[2].drop)[0] == Approx(-0.002));
  CHECK((*all[0].within[2].drop)[1] == Approx(0.045));
}

TEST_CASE("a curve that comes back does not count past where it left the limit", "[curve_statistics]") {
  Record record = one_seed();
  for (auto& [id, point] : record.points)
    if (point.spec.method == "gradient_l1" && point.spec.heads_removed == 4)
      point.metrics[0].difference->ci95 = {-0.001, 0.001};  // all heads gone, as good as before
  const auto all = curve_statistics(record, sweeps_of(record)[0], "accuracy");
  CHECK(all[0].within[2].fraction == 0);
}

TEST_CASE("a sweep at an earlier step is measured against the unpruned model of that step", "[curve_statistics]") {
  Record record = one_seed();
  add_earlier_sweep(record, 10);  // accuracy 0.6, 0.58, 0.5 at 0, 0.5, 1; at the end the unpruned model has 0.9
  const std::vector<Sweep> sweeps = sweeps_of(record);
  REQUIRE(sweeps.size() == 2);
  const Sweep& early = sweeps[1];
  CHECK(early.any().at_step == 10);
  CHECK_THAT(sweep_title(early), ContainsSubstring("the model after 10 training steps"));
  const auto all = curve_statistics(record, early, "accuracy");
  CHECK(all[0].within[0].fraction == 0);    // drop 0.01
  CHECK(all[0].within[2].fraction == 0.5);  // 0.02 -+ 0.01 within 0.05
  // 1 % of the loss of that step, 2, and not of 0.5.
  CHECK(drop_limits(record, early, "loss")[0].drop == Approx(0.02));
  CHECK(drop_limits(record, sweeps[0], "loss")[0].drop == Approx(0.005));
}

TEST_CASE("values by example that are not those of the journal are refused", "[curve_statistics]") {
  const TestFolder folder;
  Record record = one_seed();
  store_examples(record, folder.path());
  const auto path = example_values_path(folder.path(), record.points.begin()->second.examples_sha256);
  write_file(path, read_file(path) + " ", Sync::no);
  CHECK_THROWS_AS(curve_statistics(record, sweeps_of(record)[0], "accuracy"), Error);
}
