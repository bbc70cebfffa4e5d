#include "report/gate/check_views.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "record/events.h"
#include "report/text/markup.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

constexpr size_t kMaxSummary = 900000;  // GitHub drops summaries over 1 MiB
constexpr size_t kMaxAnnotations = 10;  // of one kind that a step shows
constexpr size_t kMaxSummaryRows = 1000;
constexpr size_t kMaxTextRows = 40;

/// Digits enough to tell the two sides apart.
std::string precise(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : value_text(value); }

Json optional_value(const std::optional<KeyedMetric>& metric) {
  return metric ? measurement_json(metric->value) : Json(nullptr);
}

std::string cell(const std::optional<KeyedMetric>& metric) { return metric ? precise(metric->value) : "-"; }

std::string change_cell(const KeyVerdict& key) {
  if (!key.value || !key.base || !std::isfinite(key.value->value)) return "-";
  return fmt::format("{:+.3g}", key.value->value - key.base->value);
}

std::string counts_text(const CheckResult& result) {
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : result.counts()) parts.push_back(fmt::format("{} {}", count, verdict));
  return parts.empty() ? "no metrics" : join(parts, ", ");
}

/// What is wrong with one key or with the run, as JUnit has it.
struct Problem {
  std::string element, type, message;
};

std::optional<Problem> problem_of(const KeyVerdict& key) {
  if (key.verdict == "regressed") return Problem{"failure", "regression", failure_text(key)};
  if (key.verdict == "missing" || key.verdict == "nonfinite" || key.verdict == "incomparable")
    return Problem{"error", key.verdict, failure_text(key)};
  if (key.verdict == "excluded") return Problem{"skipped", "excluded", "excluded by the policy"};
  return std::nullopt;
}

std::string details(const KeyVerdict& key) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const std::optional<KeyedMetric>& metric) {
    if (!metric) return;
    parts.push_back(fmt::format("{} {}", name, precise(metric->value)));
    if (metric->stderr_) parts.push_back(fmt::format("stderr {}", precise(*metric->stderr_)));
    parts.push_back(fmt::format("n {}, seeds {}", metric->n, metric->seeds.size()));
  };
  add("value", key.value);
  add("baseline", key.base);
  parts.push_back(fmt::format("allowed {}", precise(key.tolerance)));
  if (key.p) parts.push_back(fmt::format("p {} ({})", p_text(*key.p), key.test));
  if (!key.note.empty()) parts.push_back(key.note);
  return join(parts, "; ");
}

/// "quickstart.gradient_l1": the experiment and what the key is about.
std::string class_of(const std::string& name, const std::string& key) {
  const std::vector<std::string_view> parts = split(key, '/');
  const bool of_method = parts.size() > 2 && (parts[0] == "curve" || parts[0] == "auc" || parts[0] == "sensitivity");
  return fmt::format("{}.{}", name, parts[of_method ? 1 : 0]);
}

std::string case_xml(const std::string& classname, const std::string& name, const std::optional<Problem>& problem,
                     const std::string& text) {
  const std::string head =
      fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"0.0\"", xml_escape(classname), xml_escape(name));
  if (!problem) return head + "/>\n";
  if (problem->element == "skipped")
    return head + fmt::format("><skipped message=\"{}\"/></testcase>\n", xml_escape(problem->message));
  return head + fmt::format("><{0} message=\"{1}\" type=\"{2}\">{3}</{0}></testcase>\n", problem->element,
                            xml_escape(problem->message), problem->type, xml_escape(text));
}

/// Whether the run as a whole is wrong, beyond its keys.
bool run_failed(const CheckResult& result) { return result.verdict != "ok" && result.verdict != "regression"; }

std::string github_message(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else
      out += c;
  }
  return out;
}

/// In a property, two characters more have a meaning of their own.
std::string github_property(std::string_view text) {
  std::string out;
  for (const char c : github_message(text)) {
    if (c == ':')
      out += "%3A";
    else if (c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string title_of_verdict(const std::string& verdict) {
  std::string title = verdict == "regressed" ? "Regression" : verdict == "nonfinite" ? "Not finite" : verdict;
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

}  // namespace

std::string failure_text(const KeyVerdict& key) {
  if (key.verdict != "regressed") return key.note;
  const double value = key.value->value, base = key.base->value;
  if (key.tolerance == 0)
    return fmt::format("{} instead of {}, and no move for the worse is allowed", precise(value), precise(base));
  if (key.better == Better::either)
    return fmt::format("|{} - {}| > {}", precise(value), precise(base), precise(key.tolerance));
  const bool higher = key.better == Better::higher;
  return fmt::format("{} {} {} {} {}", precise(value), higher ? "<" : ">", precise(base), higher ? "-" : "+",
                     precise(key.tolerance));
}

Json verdict_json(const CheckResult& result) {
  Json json;
  json["schema_version"] = 1;
  json["verdict"] = result.verdict;
  json["exit_code"] = static_cast<int>(result.code);
  json["run"] = result.run;
  json["baseline"] = result.baseline;
  json["compared"] = result.compared;
  json["counts"] = Json::object();
  for (const auto& [verdict, count] : result.counts()) json["counts"][verdict] = count;
  json["reasons"] = result.reasons;
  json["metrics"] = Json::array();
  for (const KeyVerdict& key : result.metrics) {
    json["metrics"].push_back({{"key", key.key},
                               {"verdict", key.verdict},
                               {"value", optional_value(key.value)},
                               {"base", optional_value(key.base)},
                               {"tolerance", key.tolerance},
                               {"direction", to_string(key.better)},
                               {"p", key.p ? Json(*key.p) : Json(nullptr)},
                               {"test", key.test},
                               {"note", key.note}});
  }
  return json;
}

std::string junit_xml(const CheckResult& result, const JunitContext& context) {
  size_t failures = 0, errors = 0, skipped = 0;
  std::string cases;
  // The run's own case comes first: without it a run that stopped early could show all its keys green.
  std::optional<Problem> of_run;
  if (run_failed(result))
    of_run = Problem{"error", result.verdict, result.reasons.empty() ? result.verdict : result.reasons.front()};
  cases += case_xml(result.name + ".run", "run", of_run, join(result.reasons, "; "));
  errors += of_run ? 1 : 0;
  for (const KeyVerdict& key : result.metrics) {
    const std::optional<Problem> problem = problem_of(key);
    if (problem) ++(problem->element == "failure" ? failures : problem->element == "error" ? errors : skipped);
    cases += case_xml(class_of(result.name, key.key), key.key, problem, details(key));
  }
  const std::string numbers =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", result.metrics.size() + 1, failures, errors);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0} time=\"0.0\"><testsuite name=\"headprune.check\" "
      "{0} "
      "skipped=\"{1}\" time=\"0.0\" timestamp=\"{2}\" hostname=\"{3}\"><properties/>\n{4}</testsuite></testsuites>\n",
      numbers, skipped, xml_escape(context.timestamp), xml_escape(context.hostname), cases);
}

std::string summary_markdown(const CheckResult& result) {
  std::string out = fmt::format("## headprune check: {} ({})\n\n", result.verdict, markdown_escape(result.name));
  for (const std::string& reason : result.reasons) out += fmt::format("- {}\n", markdown_escape(reason));
  if (!result.reasons.empty()) out += '\n';
  out += fmt::format("{} compared; {}.\n", count_text(result.compared, "metric"), counts_text(result));
  std::vector<const KeyVerdict*> rows = result.failures();
  for (const KeyVerdict& key : result.metrics) {
    if (key.verdict == "improved" || key.verdict == "new") rows.push_back(&key);
  }
  if (rows.empty()) return out;
  out +=
      "\n| metric | value | baseline | change | allowed | verdict | note |\n| --- | ---: | ---: | ---: | ---: | --- | "
      "--- |\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const KeyVerdict& key = *rows[i];
    const std::string row =
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_escape(key.key), cell(key.value), cell(key.base),
                    change_cell(key), precise(key.tolerance), key.verdict, markdown_escape(key.note));
    if (i >= kMaxSummaryRows || out.size() + row.size() > kMaxSummary - 200)
      return out + fmt::format("\nand {} more\n", rows.size() - i);
    out += row;
  }
  return out;
}

std::string check_text(const CheckResult& result, size_t width) {
  std::string out = fmt::format("check: {} (exit {})\n", result.verdict, static_cast<int>(result.code));
  for (const std::string& reason : result.reasons) out += wrapped(reason, width, 2);
  std::vector<const KeyVerdict*> shown = result.failures();
  for (const KeyVerdict& key : result.metrics) {
    if (key.verdict == "improved") shown.push_back(&key);
  }
  if (!shown.empty()) {
    TextRows rows = {{"metric", "value", "baseline", "change", "allowed", "verdict"}};
    const size_t hidden = shown.size() > kMaxTextRows ? shown.size() - kMaxTextRows : 0;
    shown.resize(shown.size() - hidden);
    for (const KeyVerdict* key : shown)
      rows.push_back(
          {key->key, cell(key->value), cell(key->base), change_cell(*key), precise(key->tolerance), key->verdict});
    out += '\n' + text_table(rows, {width, 2, 5, 0, 1}) + '\n';
    if (hidden > 0) out += fmt::format("  and {} more, all in verdict.json\n", hidden);
    std::vector<std::string> said;
    for (const KeyVerdict* key : shown) {
      if (key->note.empty() || std::find(said.begin(), said.end(), key->note) != said.end()) continue;
      out += wrapped(fmt::format("{}: {}", key->verdict, key->note), width, 2);
      said.push_back(key->note);
    }
  }
  const auto counts = result.counts();
  if (const auto fresh = counts.find("new"); fresh != counts.end()) {
    out += wrapped(fmt::format("{} not in the baseline: headprune baseline update adds {}",
                               count_text(fresh->second, "metric"), fresh->second == 1 ? "it" : "them"),
                   width, 2);
  }
  return out + fmt::format("  {} compared; {}\n", count_text(result.compared, "metric"), counts_text(result));
}

std::string github_annotations(const CheckResult& result, const std::string& baseline) {
  const std::vector<const KeyVerdict*> failures = result.failures();
  std::vector<std::string> lines;
  const auto add = [&](int64_t line, const std::string& title, const std::string& message) {
    lines.push_back(fmt::format("::error file={},line={},title={}::{}\n", github_property(baseline), line,
                                github_property(title), github_message(message)));
  };
  if (run_failed(result)) add(1, title_of_verdict(result.verdict), join(result.reasons, "; "));
  const size_t room = kMaxAnnotations - 1 - lines.size();
  for (size_t i = 0; i < std::min(room, failures.size()); ++i) {
    const KeyVerdict& key = *failures[i];
    const auto line = result.lines.find(key.key);
    add(line == result.lines.end() ? 1 : line->second, title_of_verdict(key.verdict),
        fmt::format("{}: {}", key.key, failure_text(key)));
  }
  if (failures.size() > room)
    add(1, title_of_verdict(result.verdict), fmt::format("and {} more", failures.size() - room));
  return join(lines, "");
}

std::string github_output(const CheckResult& result) {
  const std::vector<const KeyVerdict*> failures = result.failures();
  return fmt::format("verdict={}\nworst_metric={}\n", result.verdict, failures.empty() ? "" : failures.front()->key);
}

}  // namespace headprune
