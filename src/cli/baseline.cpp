#include "report/gate/baseline.h"

#include <pwd.h>
#include <unistd.h>

#include <memory>

#include "cli/baseline.h"
#include "cli/run_arguments.h"
#include "core/files.h"
#include "core/open_file.h"
#include "core/text.h"
#include "record/run_folder.h"

namespace headprune {

namespace {

std::string user_name() {
  const passwd* entry = getpwuid(geteuid());
  return entry ? entry->pw_name : fmt::format("user {}", geteuid());
}

struct UpdateArguments {
  std::string run, baseline, reason;
};

ExitCode update(const UpdateArguments& arguments) {
  const Record record = read_record(arguments.run);
  const fs::path path = arguments.baseline.empty() ? default_baseline(arguments.run) : fs::path(arguments.baseline);
  if (path.empty())
    fail(ExitCode::usage, "the run does not say where its experiment lies: name the file with --baseline");
  const std::string before = fs::exists(path) ? read_file_up_to(path, kMaxJsonFile) : "";
  const BaselineUpdate change{read_run_context(arguments.run).name, arguments.reason, user_name(), utc_now()};
  const Baseline baseline = make_baseline(record, change, before);
  write_file(path, baseline.text());
  print_result(fmt::format("{} {}: {} metrics of {}\n", before.empty() ? "made" : "replaced", shown_path(path),
                           baseline.metrics.size(), arguments.run));
  return ExitCode::ok;
}

void add_update(CommandLine& line, CLI::App& baseline) {
  CLI::App& command = *baseline.add_subcommand("update", "make or replace a baseline from a completed run");
  auto arguments = std::make_shared<UpdateArguments>();
  command.add_option("RUN", arguments->run, "run folder")->required();
  command.add_option("--reason", arguments->reason, "why these values are right; kept in the file")->required();
  command.add_option("--baseline", arguments->baseline, "the file (default: as for check)");
  command.callback([&line, arguments] { line.chosen = [arguments] { return update(*arguments); }; });
}

void add_show(CommandLine& line, CLI::App& baseline) {
  CLI::App& command = *baseline.add_subcommand("show", "a baseline's metrics, allowed moves and history");
  auto file = std::make_shared<std::string>();
  command.add_option("FILE", *file, "the baseline")->required();
  command.callback([&line, file] {
    line.chosen = [&line, file] {
      const Baseline found = parse_baseline(read_file_up_to(*file, kMaxJsonFile), *file);
      print_result(line.common.json ? found.text() : baseline_text(found, 100));
      return ExitCode::ok;
    };
  });
}

void add_calibrate(CommandLine& line, CLI::App& baseline, const Calibrate& action) {
  CLI::App& command =
      *baseline.add_subcommand("calibrate", "repeat a run and propose tolerances of twice the largest spread");
  auto arguments = std::make_shared<CalibrateArguments>();
  arguments->experiment.add_to(command);
  command.add_option("-n", arguments->runs, "how often")->check(CLI::Range(2, 1000));
  command.add_option("--out", arguments->out, "folder of the run folders (default: beside the experiment's runs)");
  command.callback(
      [&line, arguments, action] { line.chosen = [&line, arguments, action] { return action(line, *arguments); }; });
}

}  // namespace

void add_baseline(CommandLine& line, Calibrate calibrate_action) {
  CLI::App& command = *line.app.add_subcommand("baseline", "the expected values of check: update, calibrate, show");
  command.require_subcommand(1);
  add_update(line, command);
  add_calibrate(line, command, calibrate_action);
  add_show(line, command);
  command.footer(
      "Examples:\n  headprune baseline update runs/quickstart --reason 'first values'\n"
      "  headprune baseline calibrate experiments/quickstart/experiment.yaml -n 3\n"
      "  headprune baseline show experiments/quickstart/expected.json");
}

}  // namespace headprune
