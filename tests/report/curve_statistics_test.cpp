#include "report/curve_statistics.h"

#include "core/hash.h"
#include "record/samples.h"
#include "report/fixture.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

/// one_seed() with samples of every point on 100 examples: the first round(100 accuracy) are right.
Record with_samples(const TestFolder& folder) {
  Record record = one_seed();
  for (auto& [id, point] : record.points) {
    std::vector<Sample> samples;
    for (int64_t i = 0; i < 100; ++i) {
      Sample sample;
      sample.doc_id = i;
      sample.doc_hash = sha256(std::to_string(i));
      sample.correct = static_cast<double>(i) + 0.5 < 100 * point.metrics[0].estimate.value;
      samples.push_back(sample);
    }
    point.samples_sha256 = write_samples(folder.path(), id, samples);
  }
  return record;
}

}  // namespace

TEST_CASE("areas and fractions of a curve, by hand", "[curve_statistics]") {
  const Record record = one_seed();  // accuracy 0.9, 0.85, 0.5 at 0, 0.5, 1; random 0.9, (0.7 + 0.6) / 2, 0.5
  const std::vector<Sweep> sweeps = sweeps_of(record);
  REQUIRE(sweeps.size() == 1);
  const auto all = curve_statistics(record, "/nowhere", sweeps[0], "accuracy");
  REQUIRE(all.size() == 2);
  CHECK(all[0].method == "gradient_l1");
  CHECK(all[0].area.value.value() == Approx(0.5 * (0.9 + 0.85) / 2 + 0.5 * (0.85 + 0.5) / 2));
  CHECK(all[0].minus_random.value.value() == Approx(0.775 - 0.675));
  CHECK_FALSE(all[0].area.interval);
  // Drops of 0.01, 0.02 and 0.05; at half the drop is 0.05.
  CHECK(all[0].within[0].value.value() == 0);
  CHECK(all[0].within[2].value.value() == 0.5);
  CHECK(all[1].method == "random");
  CHECK_FALSE(all[1].minus_random.value);
}

TEST_CASE("a sweep at an earlier step is measured against the unpruned model of that step", "[curve_statistics]") {
  Record record = one_seed();
  add_earlier_sweep(record, 10);  // accuracy 0.6, 0.58, 0.5 at 0, 0.5, 1; at the end the unpruned model has 0.9
  const std::vector<Sweep> sweeps = sweeps_of(record);
  REQUIRE(sweeps.size() == 2);
  const Sweep& early = sweeps[1];
  CHECK(early.any().at_step == 10);
  CHECK_THAT(sweep_title(early), ContainsSubstring("the model after 10 training steps"));
  const auto all = curve_statistics(record, "/nowhere", early, "accuracy");
  CHECK(all[0].within[0].value.value() == 0);    // drop 0.01
  CHECK(all[0].within[2].value.value() == 0.5);  // drop 0.05
  // 1 % of the loss of that step, 2, and not of 0.5.
  CHECK(drop_limits(record, early, "loss")[0].drop == Approx(0.02));
  CHECK(drop_limits(record, sweeps[0], "loss")[0].drop == Approx(0.005));
}

TEST_CASE("over seeds the interval is Student's t", "[curve_statistics]") {
  const Record record = two_seeds();  // areas 0.775 and 0.7: mean 0.7375, sd 0.053033, t(1) = 12.7062
  const std::vector<Sweep> sweeps = sweeps_of(record);
  const auto all = curve_statistics(record, "/nowhere", sweeps[0], "accuracy");
  CHECK(all[0].area.over == "seeds");
  CHECK(all[0].area.value.value() == Approx(0.7375));
  CHECK((*all[0].area.interval)[0] == Approx(0.7375 - 12.7062 * 0.0375).epsilon(1e-4));
  CHECK((*all[0].within[2].interval)[0] == 0.5);
}

TEST_CASE("with samples of one seed the interval is over examples", "[curve_statistics]") {
  const TestFolder folder;
  const Record record = with_samples(folder);
  const std::vector<Sweep> sweeps = sweeps_of(record);
  const auto all = curve_statistics(record, folder.path(), sweeps[0], "accuracy");
  REQUIRE(all[0].area.interval);
  CHECK(all[0].area.over == "examples");
  // Each example's own area: 1 for 50 of them, 0.75 for 35, 0.25 for 5, 0 for 10. Mean 0.775, variance of the mean
  // (50 * 0.225^2 + 35 * 0.025^2 + 5 * 0.525^2 + 10 * 0.775^2) / 100 / 100: sd 0.0314. Skewed, so BCa leans to the
  // left.
  const auto interval = *all[0].area.interval;
  CHECK(interval[0] == Approx(0.775 - 1.96 * 0.0314).margin(0.012));
  CHECK(interval[1] == Approx(0.775 + 1.96 * 0.0314).margin(0.012));
  REQUIRE(all[0].within[2].interval);
  // The drop at half is 0.05 with an error of 0.022: within 0.05 about every second time.
  CHECK((*all[0].within[2].interval)[0] == 0);
  CHECK((*all[0].within[2].interval)[1] == 0.5);
}

TEST_CASE("samples that are not those of the journal are refused", "[curve_statistics]") {
  const TestFolder folder;
  const Record record = with_samples(folder);
  const std::string& id = record.points.begin()->first;
  write_file(folder / ("samples/" + id + ".jsonl"), read_file(folder / ("samples/" + id + ".jsonl")) + "\n", Sync::no);
  CHECK_THROWS_AS(curve_statistics(record, folder.path(), sweeps_of(record)[0], "accuracy"), Error);
}
