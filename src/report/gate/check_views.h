// What `check` leaves and prints: for people, for CI servers and for GitHub (docs/formats.md section 12).
#pragma once

#include <string>

#include "report/gate/check.h"

namespace headprune {

Json verdict_json(const CheckResult& result);

struct JunitContext {
  std::string timestamp;  // UTC, "2026-01-02T03:04:05"
  std::string hostname;
};
/// One test case a key; a verdict on the run as a whole (incomparable, no baseline, not completed) is a case "run".
std::string junit_xml(const CheckResult& result, const JunitContext& context);

/// Markdown: the verdict, its reasons, what failed and what improved. At most 900,000 bytes.
std::string summary_markdown(const CheckResult& result);

/// For the terminal.
std::string check_text(const CheckResult& result, size_t width);

/// Workflow commands: ::error for the nine worst failures and one for the rest, each at its line of `baseline` (the
/// path that GitHub knows the file by).
std::string github_annotations(const CheckResult& result, const std::string& baseline);
/// "verdict=...\nworst_metric=...\n"
std::string github_output(const CheckResult& result);

/// What is wrong with one key, in numbers: "0.751 < 0.781 - 0.020".
std::string failure_text(const KeyVerdict& key);

}  // namespace headprune
