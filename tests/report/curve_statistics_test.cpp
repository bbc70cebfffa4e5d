#include "report/numbers/curve_statistics.h"

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

TEST_CASE("no change on any example is no interval of 0, and then nothing is said of a limit", "[curve_statistics]") {
  Record record = one_seed();
  const auto difference_at = [&](int64_t removed, const Difference& difference) {
    for (auto& [id, point] : record.points)
      if (point.spec.method == "gradient_l1" && point.spec.heads_removed == removed && !point.spec.sweep.empty())
        point.metrics[0].difference = difference;
  };
  // What a paired bootstrap of equal predictions gives: f1 or matthews in the place of accuracy.
  difference_at(2, {.delta = 0, .stderr_ = {}, .ci95 = {}, .p = 1, .test = "paired_bootstrap"});
  auto all = curve_statistics(record, sweeps_of(record)[0], "accuracy");
  CHECK(all[0].within[2].fraction == 0);
  CHECK_FALSE(all[0].within[2].drop);
  CHECK(all[0].within[2].then_unknown);
  difference_at(2, {.delta = 0, .stderr_ = 0, .ci95 = {{-0.01, 0.01}}, .p = 1, .test = "paired_bootstrap"});
  difference_at(4, {.delta = 0, .stderr_ = {}, .ci95 = {}, .p = 1, .test = "paired_bootstrap"});
  all = curve_statistics(record, sweeps_of(record)[0], "accuracy");
  CHECK(all[0].within[2].fraction == 0.5);
  CHECK(all[0].within[2].then_unknown);
}

TEST_CASE("one random order of one model has no interval and passes no limit", "[curve_statistics]") {
  const TestFolder folder;
  Record record = one_seed();
  store_examples(record, folder.path());
  const auto two = curve_statistics(record, sweeps_of(record)[0], "accuracy");
  CHECK(two[1].area->ci95);
  CHECK_FALSE(two[1].one_order);
  std::erase_if(record.points, [](const auto& entry) { return entry.second.spec.draw == 1; });
  const Sweep sweep = sweeps_of(record)[0];
  const auto one = curve_statistics(record, sweep, "accuracy");
  CHECK(one[0].area->ci95);
  CHECK(one[1].one_order);
  CHECK_FALSE(one[1].area->ci95);
  CHECK_FALSE(one[1].area->stderr_);
  CHECK(one[1].within.empty());
  CHECK_FALSE(one[0].random->difference.ci95);
  CHECK_THAT(areas_sentence(record, sweep, "accuracy"), ContainsSubstring("one order, which says nothing of others"));
  std::string notes;
  for (const std::string& note : sweep_notes(record, sweep, "accuracy")) notes += note;
  CHECK_THAT(notes, ContainsSubstring("random: one random order, which says nothing of others"));
  CHECK(notes.find("mean [smallest, largest]") == std::string::npos);
  // Over seeds the orders are among what varies.
  Record seeds = two_seeds();
  std::erase_if(seeds.points, [](const auto& entry) { return entry.second.spec.draw == 1; });
  CHECK_FALSE(curve_statistics(seeds, sweeps_of(seeds)[0], "accuracy")[1].one_order);
}

TEST_CASE("the power of a sweep is that of every curve, whatever points it has", "[curve_statistics]") {
  Record record = one_seed();
  const auto note = [&] {
    const Sweep sweep = sweeps_of(record)[0];
    return sweep_notes(record, sweep, "accuracy").back();
  };
  // McNemar: 7 of 100 examples one way have p = 0.0156, below 0.05 / 2; 6 have 0.0313, below 0.05.
  CHECK(note() == "With 100 examples and 2 tests a change that stood out alone needed 0.070 for a star.");
  std::vector<PointResult> more;
  for (const auto& [id, point] : record.points)
    if (point.spec.method == "gradient_l1" && point.spec.heads_removed != 4 && !point.spec.sweep.empty())
      more.push_back(point);
  for (PointResult& point : more) {
    point.point = "f" + point.point.substr(1);
    point.spec.method = "output_l2";
    record.points[point.point] = point;
  }
  CHECK(note() ==
        "With 100 examples and 1 to 2 tests a curve a change that stood out alone needed 0.060 to 0.070 for a star, by "
        "curve.");
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
