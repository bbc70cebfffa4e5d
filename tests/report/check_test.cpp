#include "report/gate/check.h"

#include <limits>

#include "report/fixture.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

constexpr const char* kHalf = "curve/gradient_l1/one_shot/0.5/accuracy";

Baseline baseline_of(const Record& record) {
  return make_baseline(record, {"toy", "first", "tester", "2026-01-02T03:04:05.000Z"}, "");
}

/// The record with accuracy of gradient_l1 at half moved by `change` for every seed.
Record moved(Record record, double change) {
  for (auto& [id, point] : record.points) {
    if (point.spec.method != "gradient_l1" || point.spec.heads_removed != 2 || point.spec.sweep.empty()) continue;
    point.metrics[0].estimate.value += change;
  }
  return record;
}

const KeyVerdict& of(const CheckResult& result, const std::string& key) {
  for (const KeyVerdict& one : result.metrics) {
    if (one.key == key) return one;
  }
  throw std::runtime_error("no verdict on " + key);
}

std::string all_reasons(const CheckResult& result) {
  std::string text;
  for (const std::string& reason : result.reasons) text += reason + '\n';
  return text;
}

/// `seeds` seeds whose accuracy is 0.9 everywhere; gradient_l1 at half is lower by drops[i].
Record many_seeds(const std::vector<double>& drops) {
  Record record = one_seed();
  const std::map<std::string, PointResult> first = record.points;
  record.facts->seeds.clear();
  for (size_t i = 0; i < drops.size(); ++i) {
    const auto seed = static_cast<int64_t>(i) + 1;
    record.facts->seeds.push_back(seed);
    for (const auto& [id, point] : first) {
      PointResult copy = point;
      copy.point = id + "-" + std::to_string(seed);
      copy.spec.seed = seed;
      if (copy.spec.method == "gradient_l1" && copy.spec.heads_removed == 2) copy.metrics[0].estimate.value -= drops[i];
      record.points[copy.point] = copy;
    }
  }
  for (const auto& [id, point] : first) record.points.erase(id);
  return record;
}

}  // namespace

TEST_CASE("a run agrees with the baseline made of it", "[check]") {
  const Record record = two_seeds();
  const CheckResult result = check_run(record, baseline_of(record), {});
  CHECK(result.verdict == "ok");
  CHECK(result.code == ExitCode::ok);
  CHECK(result.compared == static_cast<int64_t>(result.metrics.size()));
  CHECK(result.compared > 20);
  CHECK(result.failures().empty());
}

TEST_CASE("worse than the tolerance is a regression, better is an improvement that passes", "[check]") {
  Baseline baseline = baseline_of(two_seeds());
  baseline.policy.fallback.abs = 0.02;
  const CheckResult at = check_run(moved(two_seeds(), -0.02), baseline, {});
  CHECK(at.code == ExitCode::ok);  // 0.80 - 0.78 is more than 0.02 in binary, and is not meant to be
  const CheckResult worse = check_run(moved(two_seeds(), -0.021), baseline, {});
  CHECK(worse.code == ExitCode::regression);
  CHECK(worse.verdict == "regression");
  CHECK(of(worse, kHalf).verdict == "regressed");
  CHECK_THAT(of(worse, kHalf).note, ContainsSubstring("no test possible with 2 seeds"));
  CHECK(of(worse, "base/accuracy").verdict == "ok");
  const CheckResult better = check_run(moved(two_seeds(), 0.03), baseline, {});
  CHECK(better.code == ExitCode::ok);
  CHECK(of(better, kHalf).verdict == "improved");
}

TEST_CASE("for a loss, more is worse", "[check]") {
  const Record record = two_seeds();
  Baseline baseline = baseline_of(record);
  baseline.metrics.at("base/loss").value -= 0.1;
  CHECK(of(check_run(record, baseline, {}), "base/loss").verdict == "regressed");
  baseline.metrics.at("base/loss").value += 0.2;
  CHECK(of(check_run(record, baseline, {}), "base/loss").verdict == "improved");
  baseline.policy.metrics["loss"].direction = "higher";
  CHECK(of(check_run(record, baseline, {}), "base/loss").verdict == "regressed");
}

TEST_CASE("a move of the agreement between methods counts in both directions", "[check]") {
  const Record record = two_seeds();
  const std::string key = "agreement/gradient_l1/output_l2/spearman";
  for (const double change : {0.5, -0.5}) {
    Baseline baseline = baseline_of(record);
    baseline.metrics.at(key).value += change;
    CHECK(of(check_run(record, baseline, {}), key).verdict == "regressed");
  }
}

TEST_CASE("a vanished metric, a NaN and nothing to compare never pass", "[check]") {
  const Record record = two_seeds();
  Baseline baseline = baseline_of(record);
  baseline.metrics["base/f1"] = {0.5, std::nullopt, 100, {0.5}};
  const CheckResult missing = check_run(record, baseline, {});
  CHECK(missing.code == ExitCode::incomplete);
  CHECK(of(missing, "base/f1").verdict == "missing");

  Record broken = record;
  for (auto& [id, point] : broken.points) {
    if (point.spec.rule == "none") point.metrics[0].estimate.value = std::numeric_limits<double>::quiet_NaN();
  }
  const CheckResult nan = check_run(broken, baseline_of(record), {});
  CHECK(nan.code == ExitCode::incomplete);
  CHECK(of(nan, "base/accuracy").verdict == "nonfinite");

  Baseline empty = baseline_of(record);
  empty.metrics.clear();
  const CheckResult nothing = check_run(record, empty, {});
  CHECK(nothing.code == ExitCode::incomplete);
  CHECK_THAT(all_reasons(nothing), ContainsSubstring("no metric was compared"));

  Baseline excluded = baseline_of(record);
  excluded.policy.metrics["*"].exclude = true;
  CHECK(check_run(record, excluded, {}).code == ExitCode::incomplete);
}

TEST_CASE("a metric that the baseline lacks passes with a hint", "[check]") {
  const Record record = two_seeds();
  Baseline baseline = baseline_of(record);
  baseline.metrics.erase("base/accuracy");
  const CheckResult result = check_run(record, baseline, {});
  CHECK(result.code == ExitCode::ok);
  CHECK(of(result, "base/accuracy").verdict == "new");
}

TEST_CASE("another experiment and another fingerprint cannot be compared, and the reason is named", "[check]") {
  const Record record = two_seeds();
  Record data = record;
  data.experiment_id = "f1f1";
  data.facts->splits[2].sha256 = "dd";
  const CheckResult other = check_run(moved(data, -0.5), baseline_of(record), {});
  CHECK(other.code == ExitCode::incomparable);
  CHECK_THAT(all_reasons(other), ContainsSubstring("data of the report split"));
  CHECK(of(other, kHalf).verdict == "incomparable");

  Record threads = record;
  threads.fingerprint["threads"] = 2;
  const CheckResult strict = check_run(threads, baseline_of(record), {});
  CHECK(strict.code == ExitCode::incomparable);
  CHECK_THAT(all_reasons(strict), ContainsSubstring("threads: 1 -> 2"));
  const CheckOptions tolerant{{}, true};
  CHECK_THROWS_AS(check_run(threads, baseline_of(record), tolerant), Error);  // no tolerance above zero
  Baseline loose = baseline_of(record);
  loose.policy.fallback.abs = 0.01;
  const CheckResult tolerated = check_run(threads, loose, tolerant);
  CHECK(tolerated.code == ExitCode::ok);
  CHECK_THAT(all_reasons(tolerated), ContainsSubstring("tolerated"));
}

TEST_CASE("another loaded model is named, and one without a digest is not taken for the same", "[check]") {
  Record record = two_seeds();
  record.facts->model_sha256 = "abab";
  Baseline baseline = baseline_of(record);
  CHECK(baseline.model_sha256 == "abab");
  Record other = record;
  other.experiment_id = "f1f1";
  const std::string known = "the loaded model is not that of the baseline", unknown = "is not known";
  CHECK(all_reasons(check_run(other, baseline, {})).find(known) == std::string::npos);
  other.facts->model_sha256 = "cdcd";
  CHECK_THAT(all_reasons(check_run(other, baseline, {})), ContainsSubstring(known));
  baseline.model_sha256.reset();  // of an earlier version
  CHECK_THAT(all_reasons(check_run(other, baseline, {})), ContainsSubstring("the baseline has no digest"));
  CHECK(all_reasons(check_run(other, baseline, {})).find(known) == std::string::npos);
  other.facts->model_sha256.clear();
  CHECK(all_reasons(check_run(other, baseline, {})).find(unknown) == std::string::npos);
}

TEST_CASE("a run that is not completed never passes; incomparable comes before incomplete, that before worse",
          "[check]") {
  Record running = two_seeds();
  running.done.reset();
  const CheckResult result = check_run(moved(running, -0.5), baseline_of(two_seeds()), {});
  CHECK(result.code == ExitCode::incomplete);
  CHECK_THAT(all_reasons(result), ContainsSubstring("\"running\""));
  running.fingerprint["threads"] = 2;
  CHECK(check_run(running, baseline_of(two_seeds()), {}).code == ExitCode::incomparable);
}

TEST_CASE("from six seeds on the paired test must agree with a regression", "[check]") {
  const Record before = many_seeds({0, 0, 0, 0, 0, 0});
  // All six worse: the smallest p there is, 2/64. One seed alone, worse by as much in the mean: p is 1.
  const CheckResult all = check_run(many_seeds({0.1, 0.1, 0.1, 0.1, 0.1, 0.1}), baseline_of(before), {});
  CHECK(of(all, kHalf).verdict == "regressed");
  CHECK(of(all, kHalf).p.value() == Approx(2.0 / 64));
  const CheckResult one = check_run(many_seeds({0.6, 0, 0, 0, 0, 0}), baseline_of(before), {});
  CHECK(of(one, kHalf).verdict == "ok");
  CHECK(of(one, kHalf).p.value() == Approx(1));
  CHECK_THAT(of(one, kHalf).note, ContainsSubstring("does not agree"));
}

TEST_CASE("an exact policy allows no difference in any direction", "[check]") {
  Baseline baseline = baseline_of(two_seeds());
  baseline.policy.metrics["accuracy"].exact = true;
  CHECK(check_run(two_seeds(), baseline, {}).code == ExitCode::ok);
  CHECK(of(check_run(moved(two_seeds(), 1e-9), baseline, {}), kHalf).verdict == "regressed");
}

TEST_CASE("the worst failure comes first, and what is missing before it", "[check]") {
  const Record record = two_seeds();
  Baseline baseline = baseline_of(record);
  baseline.metrics["base/f1"] = {0.5, std::nullopt, 100, {0.5}};
  baseline.metrics.at("base/accuracy").value += 0.01;
  baseline.metrics.at(kHalf).value += 0.1;
  const CheckResult result = check_run(record, baseline, {});
  const auto failures = result.failures();
  REQUIRE(failures.size() == 3);
  CHECK(failures[0]->key == "base/f1");
  CHECK(failures[1]->key == kHalf);
  CHECK(failures[2]->key == "base/accuracy");
}
