#include "record/events.h"

#include <cmath>

#include "core/error.h"
#include "support/catch.h"

using namespace headprune;

namespace {

/// The text of an event and of what it is read back as.
template <class Event>
void check_text(const Event& event, const std::string& expected) {
  CHECK(dump_json(event.to_json()) == expected);
  CHECK(dump_json(Event::from_json(parse_json(expected, "test")).to_json()) == expected);
}

}  // namespace

TEST_CASE("numbers that are not finite are written as such", "[record]") {
  CHECK(dump_json(measurement_json(0.25)) == "0.25");
  CHECK(dump_json(measurement_json(NAN)) == R"({"value":null,"nonfinite":"nan"})");
  CHECK(dump_json(measurement_json(-INFINITY)) == R"({"value":null,"nonfinite":"-inf"})");
  CHECK(std::isnan(read_measurement(measurement_json(NAN))));
  CHECK(read_measurement(measurement_json(INFINITY)) == INFINITY);
  CHECK(read_measurement(measurement_json(-INFINITY)) == -INFINITY);
  CHECK_THROWS_AS(read_measurement(Json("x")), Error);
}

TEST_CASE("events have the fields of docs/formats.md section 7 in their order", "[record]") {
  ScoreBlock block{1, "gradient_l1", 0, {Kind::encoder, 3}, {0, 2}, {0.5, 0.25}, {0.125, std::nullopt}, 6920, "", {}};
  check_text(block, R"({"seed":1,"method":"gradient_l1","draw":0,"kind":"encoder","layer":3,"heads":[0,2],)"
                    R"("scores":[0.5,0.25],"stderr":[0.125,null],"n":6920})");
  block.stderrs.clear();
  block.sweep = "iterative";
  block.step = 4;
  check_text(block, R"({"seed":1,"method":"gradient_l1","draw":0,"kind":"encoder","layer":3,"heads":[0,2],)"
                    R"("scores":[0.5,0.25],"stderr":[],"n":6920,"sweep":"iterative","step":4})");
  check_text(ScoreDone{1, "entropy", 0, "smaller = keep, negated", 2, 6920, 217, 0, 1.5, "", {}},
             R"({"seed":1,"method":"entropy","draw":0,"direction":"smaller = keep, negated","ties":2,)"
             R"("examples":6920,"forward":217,"backward":0,"dur_s":1.5})");
  check_text(StageStart{"data", std::nullopt}, R"({"stage":"data"})");
  check_text(StageDone{"score", 2, 1.5, 10, 20},
             R"({"stage":"score","seed":2,"dur_s":1.5,"forward":10,"backward":20})");
  check_text(CheckpointEvent{1, 200, "train/seed-1/checkpoint-000200", "ab"},
             R"({"seed":1,"step":200,"path":"train/seed-1/checkpoint-000200","manifest_sha256":"ab"})");
  check_text(ModelEvent{1, 600, "model", "cd"}, R"({"seed":1,"step":600,"path":"model","manifest_sha256":"cd"})");
  check_text(PointFailed{"9f", "nonfinite", "loss"}, R"({"point":"9f","reason":"nonfinite","message":"loss"})");
  check_text(PointSkipped{"9f", "max_failures"}, R"({"point":"9f","reason":"max_failures"})");
  check_text(SurgeryResult{"9f", 1e-7, 1e-5, true},
             R"({"point":"9f","max_abs_diff":1e-07,"tolerance":1e-05,"ok":true})");
  check_text(TimingResult{"9f", "removed", 16, 64, 3, {0.5, 0.25}},
             R"({"point":"9f","form":"removed","batch_size":16,"sequence_length":64,"warmup":3,"seconds":[0.5,0.25]})");
  check_text(Warning{"tied_scores", "3 heads"}, R"({"code":"tied_scores","message":"3 heads"})");
  check_text(InterruptedEvent{"SIGINT", "prune"}, R"({"signal":"SIGINT","stage":"prune"})");
  check_text(RunDone{"partial", {4, 2, 1, 1}, 9.5},
             R"({"state":"partial","points":{"total":4,"done":2,"failed":1,"skipped":1},"dur_s":9.5})");
}

TEST_CASE("an event with a missing or wrong field says which", "[record]") {
  try {
    StageDone::from_json({{"stage", "score"}, {"dur_s", "long"}});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("'dur_s'"));
  }
  CHECK_THROWS_AS(Warning::from_json({{"code", "x"}}), Error);
  CHECK_THROWS_AS(ScoreBlock::from_json({{"seed", 1},
                                         {"method", "m"},
                                         {"draw", 0},
                                         {"kind", "encoder"},
                                         {"layer", 0},
                                         {"heads", {0, 1}},
                                         {"scores", {0.5}},
                                         {"stderr", Json::array()},
                                         {"n", 1}}),
                  Error);
}
