#include "report/gate/baseline.h"

#include "core/hash.h"
#include "report/fixture.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

const BaselineUpdate kUpdate{"toy", "first values", "tester", "2026-01-02T03:04:05.000Z"};

std::string valid() { return make_baseline(two_seeds(), kUpdate, "").text(); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The sentence of the refusal, after checking its exit code.
std::string refusal(const std::string& text) {
  try {
    parse_baseline(text, "expected.json");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a baseline reads back as it was written, one metric a line", "[baseline]") {
  const Baseline made = make_baseline(two_seeds(), kUpdate, "");
  const std::string text = made.text();
  const Baseline read = parse_baseline(text, "expected.json");
  CHECK(read.text() == text);
  REQUIRE(read.metrics.size() == made.metrics.size());
  std::vector<std::string> lines;
  for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    lines.push_back(text.substr(start, end - start));
  for (const auto& [key, line] : read.lines) {
    INFO(key);
    CHECK(lines[static_cast<size_t>(line) - 1].rfind("\"" + key + "\":", 0) == 0);
  }
  CHECK(read.lines.size() == read.metrics.size());
  CHECK(read.metrics.at("base/accuracy").value == Approx(0.85));
  CHECK(read.metrics.at("base/accuracy").seeds == std::vector<double>{0.9, 0.8});
  CHECK(read.data_sha256.at("report") == "cc");
  CHECK_FALSE(read.model_sha256);
  // What an earlier version wrote of every loaded model.
  const std::string old = replaced(text, "\"model_sha256\":null", "\"model_sha256\":\"\"");
  CHECK_FALSE(parse_baseline(old, "expected.json").model_sha256);
}

TEST_CASE("an update keeps the policy and tells what it replaced", "[baseline]") {
  const std::string before =
      replaced(valid(), "\"metrics\":{}", "\"metrics\":{\"accuracy\":{\"abs\":0.02},\"curve/*/loss\":{\"rel\":0.05}}");
  const Baseline after = make_baseline(two_seeds(), {"toy", "second", "other", "2026-02-02T03:04:05.000Z"}, before);
  CHECK(after.policy.metrics.at("accuracy").abs == 0.02);
  CHECK(after.policy.metrics.at("curve/*/loss").rel == 0.05);
  REQUIRE(after.history.size() == 2);
  CHECK(after.history[0].reason == "first values");
  CHECK_FALSE(after.history[0].prev_sha256);
  CHECK(after.history[1].prev_sha256 == sha256(before));
}

TEST_CASE("a run that cannot be vouched for makes no baseline", "[baseline]") {
  const auto refused = [](const Record& record, const BaselineUpdate& update) {
    try {
      make_baseline(record, update, "");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::usage);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused(two_seeds(), {"toy", " ", "tester", ""}), ContainsSubstring("--reason"));
  Record record = two_seeds();
  record.tool["dirty"] = true;
  CHECK_THAT(refused(record, kUpdate), ContainsSubstring("uncommitted changes"));
  record = two_seeds();
  record.done->state = "partial";
  CHECK_THAT(refused(record, kUpdate), ContainsSubstring("not completed"));
  record = two_seeds();
  record.points.begin()->second.metrics[0].estimate.value = std::numeric_limits<double>::infinity();
  CHECK_THAT(refused(record, kUpdate), ContainsSubstring("not a finite number"));
  record = two_seeds();
  record.points.clear();
  record.scores.clear();
  record.surgery.clear();
  CHECK_THAT(refused(record, kUpdate), ContainsSubstring("no metrics"));
}

TEST_CASE("baselines that are not ours are refused with one sentence", "[baseline]") {
  CHECK_THAT(refusal(""), ContainsSubstring("expected.json"));
  CHECK_THAT(refusal("[]"), ContainsSubstring("must be an object"));
  CHECK_THAT(refusal(replaced(valid(), "\"schema_version\":1", "\"schema_version\":2")),
             ContainsSubstring("needs a newer headprune"));
  CHECK_THAT(refusal(replaced(valid(), "\"experiment_id\":\"e0e0\",", "")),
             ContainsSubstring("'experiment_id' is missing"));
  CHECK_THAT(refusal(replaced(valid(), "\"name\"", "\"nmae\"")), ContainsSubstring("did you mean 'name'"));
  CHECK_THAT(refusal(replaced(valid(), "\"metrics\":{}", "\"metrics\":{\"loss\":{\"absolute\":1}}")),
             ContainsSubstring("unknown key 'absolute'"));
  CHECK_THAT(refusal(replaced(valid(), "\"metrics\":{}", "\"metrics\":{\"loss\":{\"abs\":-1}}")),
             ContainsSubstring("at least 0"));
  CHECK_THAT(refusal(replaced(valid(), "\"metrics\":{}", "\"metrics\":{\"loss\":{\"exact\":1}}")),
             ContainsSubstring("true or false"));
  CHECK_THAT(refusal(replaced(valid(), "\"base/accuracy\":{", "\"base/accuracy\":{\"value\":null},\"base/other\":{")),
             ContainsSubstring("base/accuracy: value must be a finite number"));
  CHECK_THAT(refusal(replaced(valid(), "\"base/loss\"", "\"base/accuracy\"")), ContainsSubstring("base/accuracy"));
}

TEST_CASE("tolerances are twice the largest spread of a metric over its keys", "[baseline]") {
  using Keyed = std::map<std::string, KeyedMetric>;
  const auto run = [](double a, double b, double loss) {
    return Keyed{{"base/accuracy", {a, {}, 10, {a}}},
                 {"auc/m/s/accuracy", {b, {}, 10, {b}}},
                 {"base/loss", {loss, {}, 10, {loss}}}};
  };
  const Policy policy = calibrated_policy({run(0.5, 0.25, 1), run(0.625, 0.25, 1), run(0.5, 0.5, 1)});
  REQUIRE(policy.metrics.size() == 1);
  CHECK(policy.metrics.at("accuracy").abs == 0.5);
  CHECK_THROWS_AS(calibrated_policy({run(0.5, 0.25, 1)}), Error);
  Keyed fewer = run(0.5, 0.25, 1);
  fewer.erase("base/loss");
  CHECK_THROWS_AS(calibrated_policy({run(0.5, 0.25, 1), fewer}), Error);
}
