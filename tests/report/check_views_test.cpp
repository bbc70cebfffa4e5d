#include "report/gate/check_views.h"

#include "report/fixture.h"
#include "report/text/markup.h"
#include "support/catch.h"
#include "support/xml.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

Baseline toy_baseline() {
  Baseline baseline = make_baseline(two_seeds(), {"toy", "first", "tester", "2026-01-02T03:04:05.000Z"}, "");
  return parse_baseline(baseline.text(), "expected.json");
}

/// Every accuracy of the baseline is 0.1 higher than the run's.
CheckResult regressed() {
  Baseline baseline = toy_baseline();
  baseline.policy.fallback.abs = 0.02;
  baseline.policy.metrics["agreement/*"].exclude = true;
  for (auto& [key, metric] : baseline.metrics) {
    if (metric_of_key(key) == "accuracy") metric.value += 0.1;
  }
  CheckResult result = check_run(two_seeds(), baseline, {});
  result.run = "runs/toy";
  result.baseline = "expected.json";
  return result;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string attribute(const std::string& xml, const std::string& name) {
  const size_t start = xml.find(' ' + name + "=\"") + name.size() + 3;
  return xml.substr(start, xml.find('"', start) - start);
}

}  // namespace

TEST_CASE("verdict.json holds the verdict and every key", "[check_views]") {
  const CheckResult result = regressed();
  const Json json = parse_json(dump_json_file(verdict_json(result)), "verdict.json");
  CHECK(json["verdict"] == "regression");
  CHECK(json["exit_code"] == 10);
  CHECK(json["metrics"].size() == result.metrics.size());
  size_t total = 0;
  for (const auto& [verdict, count] : json["counts"].items()) total += count.get<size_t>();
  CHECK(total == result.metrics.size());
  CHECK(json["compared"].get<size_t>() + json["counts"]["excluded"].get<size_t>() == total);
}

TEST_CASE("verdict.json has no bare NaN", "[check_views]") {
  Record record = two_seeds();
  for (auto& [id, point] : record.points) point.metrics[0].estimate.value = std::nan("");
  const Json json = parse_json(dump_json_file(verdict_json(check_run(record, toy_baseline(), {}))), "verdict.json");
  CHECK(json["verdict"] == "incomplete");
  bool found = false;
  for (const Json& metric : json["metrics"]) {
    if (metric["key"] != "base/accuracy") continue;
    found = metric["value"]["nonfinite"] == "nan";
  }
  CHECK(found);
}

TEST_CASE("the counts of junit.xml are those of its cases", "[check_views]") {
  const CheckResult result = regressed();
  const std::string xml = junit_xml(result, {"2026-01-02T03:04:05", "node<1>"});
  CHECK(xml_problem(xml) == "");
  CHECK(count_of(xml, "<testcase ") == result.metrics.size() + 1);
  CHECK(attribute(xml, "tests") == std::to_string(count_of(xml, "<testcase ")));
  CHECK(attribute(xml, "failures") == std::to_string(count_of(xml, "<failure ")));
  CHECK(attribute(xml, "errors") == std::to_string(count_of(xml, "<error ")));
  CHECK(attribute(xml, "skipped") == std::to_string(count_of(xml, "<skipped ")));
  CHECK(count_of(xml, "<failure ") > 5);
  CHECK_THAT(xml, ContainsSubstring("hostname=\"node&lt;1&gt;\""));
  // Accuracy 0.85 against 0.95, 0.02 allowed.
  CHECK_THAT(xml, ContainsSubstring("<failure message=\"0.85 &lt; 0.95 - 0.02\" type=\"regression\">"));
}

TEST_CASE("a run that cannot be compared has an error of its own in junit.xml", "[check_views]") {
  const std::string xml = junit_xml(without_baseline("runs/toy", "expected.json"), {"", ""});
  CHECK(xml_problem(xml) == "");
  CHECK(attribute(xml, "tests") == "1");
  CHECK(attribute(xml, "errors") == "1");
  CHECK_THAT(xml, ContainsSubstring("type=\"baseline_missing\""));
}

TEST_CASE("annotations: ten at most, each at its line, nothing that breaks out of them", "[check_views]") {
  const CheckResult result = regressed();
  const std::string text = github_annotations(result, "a:b,c%/expected.json");
  CHECK(count_of(text, "::error ") == 10);
  CHECK(count_of(text, "\n") == 10);
  CHECK_THAT(text, ContainsSubstring("file=a%3Ab%2Cc%25/expected.json,line="));
  CHECK_THAT(text, ContainsSubstring("and " + std::to_string(result.failures().size() - 9) + " more"));
  const KeyVerdict& worst = *result.failures().front();
  const std::string line = "line=" + std::to_string(result.lines.at(worst.key)) + ",title=Regression::" + worst.key;
  CHECK_THAT(text.substr(0, text.find('\n')), ContainsSubstring(line));
  CHECK(github_output(result) == "verdict=regression\nworst_metric=" + worst.key + "\n");
}

TEST_CASE("the summary names what failed and stays under GitHub's limit", "[check_views]") {
  CheckResult result = regressed();
  const std::string text = summary_markdown(result);
  CHECK_THAT(text, ContainsSubstring("| base/accuracy | 0.85 | 0.95 | -0.1 | 0.02 | regressed |"));
  CHECK_THAT(check_text(result, 100), ContainsSubstring("check: regression (exit 10)"));
  KeyVerdict long_one = *result.failures().front();
  long_one.note = std::string(2000, 'x');
  for (int i = 0; i < 900; ++i) result.metrics.push_back(long_one);
  const std::string capped = summary_markdown(result);
  CHECK(capped.size() <= 900000);
  CHECK_THAT(capped, ContainsSubstring("more\n"));
}

TEST_CASE("text that XML cannot hold is replaced, the rest escaped", "[markup]") {
  CHECK(xml_escape("a & <b> \"c\" 'd'") == "a &amp; &lt;b&gt; &quot;c&quot; &#39;d&#39;");
  CHECK(xml_escape(std::string("x\x01y\x1bz\0", 6)) == "x\uFFFDy\uFFFDz\uFFFD");
  CHECK(xml_escape("tab\tline\n") == "tab\tline\n");
  CHECK(xml_escape("good \xC3\xA4 bad \xFF\xC3") == "good \xC3\xA4 bad \uFFFD\uFFFD");
  CHECK(xml_escape("\xEF\xBF\xBE") == "\uFFFD");
}

TEST_CASE("text inside a Markdown table stays in its cell", "[markup]") {
  CHECK(markdown_escape("a|b *c* <d>\n# e") == "a\\|b \\*c\\* \\<d\\> # e");
  CHECK(markdown_escape("snake_case _x_ [0, 1]") == "snake_case \\_x\\_ [0, 1]");
  CHECK(markdown_escape("[ ] box") == "\\[ ] box");
  CHECK(markdown_escape("see [a](b)") == "see [a\\](b)");
  CHECK(markdown_escape("# no heading") == "\\# no heading");
  CHECK(markdown_escape("1. no list") == "1\\. no list");
  CHECK(markdown_escape("0.5") == "0.5");
  CHECK(markdown_escape("-0.5") == "-0.5");
  CHECK(markdown_escape("- no item") == "\\- no item");
}
