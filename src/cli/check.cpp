#include "report/gate/check.h"

#include <cstdlib>
#include <fstream>
#include <memory>

#include "cli/cli.h"
#include "cli/run_arguments.h"
#include "core/files.h"
#include "core/open_file.h"
#include "core/text.h"
#include "record/host.h"
#include "record/run_folder.h"
#include "report/gate/check_views.h"

namespace headprune {

namespace {

struct CheckArguments {
  std::string run, baseline, out;
  std::vector<std::string> policy;
  bool github = false, tolerate_fingerprint = false;
};

bool is_set(const char* variable, const char* value) {
  const char* found = std::getenv(variable);
  return found && std::string(found) == value;
}

/// Appends to a file that GitHub names; its own tools append too, so it is never replaced.
void append_to_variable_file(const char* variable, const std::string& text) {
  const char* path = std::getenv(variable);
  if (!path || !*path) return;
  std::error_code absent;
  const bool waits = fs::is_fifo(path, absent);  // for ever, where nobody reads it
  std::ofstream file;
  if (!waits) file.open(path, std::ios::app | std::ios::binary);
  file << text;
  file.flush();
  if (waits || !file) fail(ExitCode::io, "cannot write {}, which {} names", path, variable);
}

CheckResult checked(const CheckArguments& arguments, const Record& record, const fs::path& baseline) {
  CheckOptions options;
  options.tolerate_fingerprint = arguments.tolerate_fingerprint;
  for (const std::string& rule : arguments.policy) options.rules.push_back(parse_policy_rule(rule));
  if (baseline.empty() || !fs::exists(baseline))
    return without_baseline(arguments.run, baseline.empty() ? "FILE" : shown_path(baseline));
  return check_run(record, parse_baseline(read_file_up_to(baseline, kMaxJsonFile), shown_path(baseline)), options);
}

void write_check_files(const CheckResult& result, const fs::path& folder) {
  make_folders(folder);
  std::string timestamp = utc_now();
  timestamp.resize(timestamp.find('.'));
  FileBatch files;
  files.write(folder / "junit.xml", junit_xml(result, {timestamp, host_info().name}));
  files.write(folder / "summary.md", summary_markdown(result));
  files.write(folder / "verdict.json", dump_json_file(verdict_json(result)));
  files.commit();
}

ExitCode check_now(const CommandLine& line, const CheckArguments& arguments) {
  if (arguments.out.empty()) require_writable(arguments.run, "--out DIR");
  const Record record = read_record(arguments.run);
  const fs::path baseline = arguments.baseline.empty() ? default_baseline(arguments.run) : fs::path(arguments.baseline);
  CheckResult result = checked(arguments, record, baseline);
  result.run = arguments.run;
  result.baseline = baseline.empty() ? "" : shown_path(baseline);
  write_check_files(result, arguments.out.empty() ? fs::path(arguments.run) / "check" : fs::path(arguments.out));
  std::string text = line.common.json ? dump_json_file(verdict_json(result)) : check_text(result, 100);
  if (arguments.github || is_set("GITHUB_ACTIONS", "true")) {
    text += github_annotations(result, result.baseline);
    append_to_variable_file("GITHUB_STEP_SUMMARY", summary_markdown(result));
    append_to_variable_file("GITHUB_OUTPUT", github_output(result));
  }
  print_result(text);
  return result.code;
}

}  // namespace

void add_check(CommandLine& line) {
  CLI::App& command =
      *line.app.add_subcommand("check", "hold a run against expected values; the exit code is the gate");
  auto arguments = std::make_shared<CheckArguments>();
  command.add_option("RUN", arguments->run, "run folder")->required();
  command.add_option("--baseline", arguments->baseline,
                     "expected values; by default check.baseline of the experiment, or expected.json beside it");
  command.add_option("--policy", arguments->policy,
                     "METRIC:TOLERANCE before the baseline's own policy, for example accuracy:2% or curve/*/loss:0.05");
  command.add_flag("--tolerate-fingerprint", arguments->tolerate_fingerprint,
                   "compare although threads, device or library differ; needs tolerances above zero");
  command.add_flag("--github", arguments->github, "print annotations as on GitHub Actions");
  command.add_option("--out", arguments->out, "where junit.xml, verdict.json and summary.md go (default: RUN/check)");
  command.footer(
      "Exit codes: 0 ok, 10 regression, 11 no baseline, 12 not comparable, 13 a metric is missing or not finite, or "
      "nothing was compared.\nExamples:\n  headprune check runs/quickstart\n"
      "  headprune check runs/my --baseline expected.json --policy accuracy:0.02 --out check");
  command.callback([&line, arguments] { line.chosen = [&line, arguments] { return check_now(line, *arguments); }; });
}

}  // namespace headprune
