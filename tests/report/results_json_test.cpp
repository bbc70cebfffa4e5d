#include "report/tables/results_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/fixture.h"
#include "report/numbers/keyed_metrics.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

Json results_of(const Record& record) { return results_json(record, agreement_rows(record)); }
Json metrics_of(const Record& record) { return metrics_json(record, agreement_rows(record)); }

}  // namespace

TEST_CASE("results has the shape of lm-evaluation-harness", "[results]") {
  const Json json = results_of(one_seed());
  const Json& toy = json["results"]["toy"];
  CHECK(toy["alias"] == "toy");
  CHECK(toy["accuracy,none"] == 0.9);
  CHECK(toy["accuracy_stderr,none"] == 0.01);
  CHECK(toy["loss_stderr,none"] == "N/A");
  CHECK(toy["sample_len"] == 100);
  CHECK(json["versions"]["toy"] == 1);
  CHECK(json["n-samples"]["toy"].dump() == R"({"original":120,"effective":100})");
  CHECK(json["higher_is_better"]["toy"].dump() == R"({"accuracy":true,"loss":false})");
  CHECK(json["config"].dump() ==
        R"({"model":"encoder","model_args":"d_model=8,layers=2,heads=2","batch_size":32,"device":"cpu","limit":null,)"
        R"("bootstrap_iters":1000,"random_seed":1,"seeds":[1]})");
  CHECK(json["git_hash"] == "abc1234");
  CHECK(json["date"] == 1767323045.0);  // date -u -d 2026-01-02T03:04:05Z +%s
  CHECK(json["end_time"] == 1767323105.5);
  CHECK(json["total_evaluation_time_seconds"] == "60.5");
  CHECK(json["task_hashes"]["toy"] == "cc");
  CHECK(json["splits"].dump() == R"({"score":"train","select":"dev","report":"test"})");
  CHECK(json["shared_splits"].dump() == R"([["score","select"]])");
  CHECK(json["state"] == "completed");
  CHECK(json["experiment_id"] == "e0e0");
  CHECK(json["fingerprint"].dump() == R"({"threads":1,"device":"cpu"})");
  CHECK(json["mixed_fingerprint"] == false);
  CHECK(json["schema_version"] == 1);
}

TEST_CASE("a curve's point carries its mask, estimate and paired difference", "[results]") {
  const Json json = results_of(one_seed());
  const Json& curve = json["pruning"]["curves"][0];
  CHECK(curve["method"] == "gradient_l1");
  CHECK(curve["scope"] == "global");
  const Json& point = curve["points"][1];
  CHECK(point["point"] == "0000000000000003");
  CHECK(point["heads_removed"] == 2);
  CHECK(point["removed"].dump() == R"({"encoder":{"0":[0,1]}})");
  const Json& accuracy = point["metrics"]["accuracy"];
  CHECK(accuracy["value"] == 0.9 - 0.05);
  CHECK(accuracy["interval"] == "normal");
  CHECK(accuracy["n"] == 100);
  CHECK(accuracy["p"] == 0.01);
  CHECK(accuracy["test"] == "mcnemar");
  CHECK(accuracy["seeds"].size() == 1);
  const Json& loss = point["metrics"]["loss"];
  CHECK_FALSE(loss.contains("stderr"));
  CHECK_FALSE(loss.contains("ci95"));
  CHECK_FALSE(loss.contains("p"));
}

TEST_CASE("several seeds give means, intervals and members", "[results]") {
  const Json json = results_of(two_seeds());
  CHECK(json["results"]["toy"]["accuracy,none"].get<double>() == Approx(0.85));
  CHECK(json["results"]["toy"]["accuracy_stderr,none"].get<double>() == Approx(0.05));
  const Json& curve = json["pruning"]["curves"][0];
  const Json& point = curve["points"][1];
  CHECK_FALSE(point.contains("point"));
  CHECK(point["members"].size() == 2);
  CHECK(point["members"][1]["seed"] == 2);
  const Json& accuracy = point["metrics"]["accuracy"];
  CHECK(accuracy["value"].get<double>() == Approx(0.8));
  CHECK(accuracy["interval"] == "t");
  CHECK(accuracy["over"] == "seeds");
  CHECK_FALSE(accuracy.contains("test"));      // both seeds lost exactly 0.05: nothing says how much others would
  CHECK_FALSE(accuracy.contains("variance"));  // nothing by example was recorded
  CHECK(accuracy["seeds"][1].get<double>() == Approx(0.75));
  CHECK(curve["auc"]["accuracy"]["value"].get<double>() == Approx(0.7375));
  CHECK(curve["auc_minus_random"]["accuracy"]["value"].get<double>() == Approx(0.1));
  CHECK(curve["auc_minus_random"]["accuracy"]["random"]["draws"] == 2);
  const Json& random = json["pruning"]["curves"][1];
  CHECK(random["method"] == "random");
  CHECK(random["auc_minus_random"].empty());
  CHECK(random["points"][1]["metrics"]["accuracy"]["draws"] == 2);
  CHECK(random["points"][1]["metrics"]["accuracy"]["low"].get<double>() == Approx(0.5));
}

TEST_CASE("sensitivity, agreement, surgery, timing and cost are there", "[results]") {
  const Json pruning = results_of(one_seed())["pruning"];
  REQUIRE(pruning["sensitivity"].size() == 8);
  CHECK(pruning["sensitivity"][1]["unit"] == "encoder.L0.H1");
  CHECK(pruning["sensitivity"][1]["metrics"]["accuracy"]["q"] == 0.004);
  CHECK(pruning["agreement"][0]["value"].get<double>() == Approx(4.0 / 6.0));
  CHECK(pruning["surgery"].dump() ==
        R"([{"point":"0000000000000003","max_abs_diff":2.5e-07,"tolerance":1e-05,"ok":true}])");
  CHECK(pruning["timing"].size() == 2);
  CHECK(pruning["timing"][1]["form"] == "removed");
  CHECK(pruning["timing"][1]["seconds_per_batch"]["median"] == 0.025);
  CHECK(pruning["directions"]["gradient_l1"] == "larger = keep");
  CHECK(pruning["ties"]["output_l2"] == 2);
  CHECK(pruning["cost"]["gradient_l1"].dump() == R"({"examples":400,"forward":13,"backward":13,"seconds":1.5})");
}

TEST_CASE("records that differ in times and host alone give equal results without times", "[results]") {
  const Record record = two_seeds();
  Record later = record;
  later.started = "2026-02-03T03:04:05.000Z";
  later.ended = "2026-02-03T04:04:05.000Z";
  later.dur_s = 1;
  later.attempts = 5;
  later.events = 200;
  later.host = "another";
  later.done->dur_s = 1;
  for (auto& [key, timing] : later.timing) timing.seconds = {9, 8};
  for (auto& [key, stage] : later.stages) stage.dur_s = 7;
  for (auto& [key, score] : later.scores) score.done->dur_s = 9;
  for (auto& [id, point] : later.points) point.dur_s = 3;
  CHECK(dump_json(results_of(record)) != dump_json(results_of(later)));
  CHECK(dump_json(without_times(results_of(record))) == dump_json(without_times(results_of(later))));
  CHECK(dump_json(metrics_of(record)) == dump_json(metrics_of(later)));
  later.points.at("0000000000000003").metrics[0].estimate.value += 1e-15;
  CHECK(dump_json(without_times(results_of(record))) != dump_json(without_times(results_of(later))));
}

TEST_CASE("numbers read back exactly from results.json", "[results]") {
  Record record = one_seed();
  const double value = 0.1 + 0.2;
  record.points.at("0000000000000001").metrics[0].estimate.value = value;
  const Json json = parse_json(dump_json_file(results_of(record)), "results.json");
  CHECK(json["results"]["toy"]["accuracy,none"].get<double>() == value);
}

TEST_CASE("a value that is not finite is null with its name, and no metric", "[results]") {
  Record record = one_seed();
  record.points.at("0000000000000003").metrics[1].estimate.value = std::nan("");
  record.points.at("0000000000000004").metrics[1].estimate.value = std::numeric_limits<double>::infinity();
  const Json json = results_of(record);
  const Json& points = json["pruning"]["curves"][0]["points"];
  CHECK(points[1]["metrics"]["loss"]["value"].is_null());
  CHECK(points[1]["metrics"]["loss"]["nonfinite"] == "nan");
  CHECK(points[2]["metrics"]["loss"]["nonfinite"] == "inf");
  CHECK_FALSE(json["pruning"]["curves"][0]["auc"].contains("loss"));
  CHECK_NOTHROW(dump_json(json));
  const Json metrics = metrics_of(record);
  CHECK_FALSE(metrics.contains("curve/gradient_l1/one_shot/0.5/loss"));
  CHECK(metrics.contains("curve/gradient_l1/one_shot/0.5/accuracy"));
}

TEST_CASE("metrics.json holds sorted keys and means", "[metrics]") {
  const Json metrics = metrics_of(two_seeds());
  CHECK(metrics["base/accuracy"].get<double>() == Approx(0.85));
  CHECK(metrics["curve/random/one_shot/0.5/accuracy"].get<double>() == Approx(0.6));
  CHECK(metrics["curve/gradient_l1/one_shot/1/accuracy"].get<double>() == 0.5);
  CHECK(metrics["auc/gradient_l1/one_shot/accuracy"].get<double>() == Approx(0.7375));
  // A head of seed 1's model is none of seed 2's.
  CHECK(metrics["sensitivity/leave_one_out/seed_1/encoder.L0.H1/accuracy"].get<double>() == Approx(0.7));
  CHECK(metrics["sensitivity/leave_one_out/seed_2/encoder.L0.H1/accuracy"].get<double>() == Approx(0.6));
  CHECK_FALSE(metrics.contains("sensitivity/leave_one_out/encoder.L0.H1/accuracy"));
  CHECK(metrics["sensitivity/layer_removed/encoder.L1/loss"].get<double>() == Approx(0.8));
  // Seed 1: 0.8. Seed 2: 1 4 2 0.5 against 1 3 2 0.25, the same order: 1.
  CHECK(metrics["agreement/gradient_l1/output_l2/spearman"].get<double>() == Approx(0.9));
  CHECK(metrics["agreement/gradient_l1/output_l2/topk_jaccard"].get<double>() == 1.0);
  CHECK(metrics["surgery/max_abs_diff"] == 2.5e-7);
  std::vector<std::string> keys;
  for (const auto& [key, value] : metrics.items()) {
    keys.push_back(key);
    CHECK(value.is_number());
    CHECK(key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-") ==
          std::string::npos);
  }
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(keys.size() == 2 + 12 + 4 + 24 + 3 + 1);
}

TEST_CASE("a surgery that came to NaN leaves no metric behind", "[metrics]") {
  Record record = one_seed();
  record.surgery["0000000000000004"] = {"0000000000000004", std::nan(""), 1e-5, false};
  CHECK_FALSE(metrics_of(record).contains("surgery/max_abs_diff"));
  CHECK(results_of(record)["pruning"]["surgery"][1]["max_abs_diff"]["nonfinite"] == "nan");
}

TEST_CASE("metric keys and fractions are spelled one way", "[metrics]") {
  CHECK(metric_key({"curve", "gradient_l1", "one_shot", "0.25", "accuracy"}) ==
        "curve/gradient_l1/one_shot/0.25/accuracy");
  CHECK(metric_key({"sensitivity", "x", "encoder+cross", "", "loss"}) == "sensitivity/x/encoder_cross/loss");
  CHECK(fraction_text(0, 16) == "0");
  CHECK(fraction_text(4, 16) == "0.25");
  CHECK(fraction_text(1, 3) == "0.333333");
  CHECK(fraction_text(16, 16) == "1");
  CHECK(fraction_text(0, 0) == "0");
}

TEST_CASE("an unfinished run gives what it has and says its state", "[results]") {
  Record record = one_seed();
  record.done.reset();
  record.interrupted = InterruptedEvent{"SIGTERM", "prune"};
  record.points.erase("0000000000000004");
  record.failed["0000000000000005"] = {"0000000000000005", "error", "it broke"};
  const Json json = results_of(record);
  CHECK(json["state"] == "interrupted");
  CHECK(json["pruning"]["curves"][0]["points"].size() == 2);
  CHECK(json["failed_points"][0]["message"] == "it broke");
}

TEST_CASE("an empty record gives a valid file", "[results]") {
  const Json json = results_of(Record());
  CHECK(json["results"].dump() == "{}");
  CHECK(json["pruning"]["curves"].dump() == "[]");
  CHECK(json["state"] == "queued");
  CHECK(dump_json_file(metrics_of(Record())) == dump_json_file(Json::object()));
}

TEST_CASE("masks listed by hand and controls are in results.json under their names", "[results]") {
  Record record = one_seed();
  PointSpec spec = sweep_spec(1, "", 0, 2);
  spec.draw.reset();
  spec.sweep = spec.rule = "from_file";
  spec.name = "no_first";
  record.points["f1"] = point("f1", spec, {0.7, 0.5, -0.2, 0.01});
  spec.name.clear();
  spec.heads_removed = 0;
  spec.sweep = "one_shot";
  spec.control_steps = 40;
  record.points["f2"] = point("f2", spec, {0.91, 0.5, 0.01, 0.5});
  const Json pruning = results_of(record)["pruning"];
  REQUIRE(pruning["masks"].size() == 1);
  CHECK(pruning["masks"][0]["name"] == "no_first");
  CHECK(pruning["masks"][0]["metrics"]["accuracy"]["value"].get<double>() == Approx(0.7));
  REQUIRE(pruning["controls"].size() == 1);
  CHECK(pruning["controls"][0]["fine_tuning_steps"] == 40);
  const Json metrics = metrics_of(record);
  CHECK(metrics["mask/from_file/no_first/accuracy"].get<double>() == Approx(0.7));
  CHECK(metrics["control/one_shot/steps_40/accuracy"].get<double>() == Approx(0.91));
}
