#include "report/baseline.h"

#include <pwd.h>
#include <unistd.h>

#include <memory>

#include "cli/cli.h"
#include "cli/run_arguments.h"
#include "config/load.h"
#include "core/files.h"
#include "core/text.h"
#include "record/run_folder.h"
#include "run/experiment.h"
#include "run/run.h"

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
  const std::string before = fs::exists(path) ? read_file(path) : "";
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
      const Baseline found = parse_baseline(read_file(*file), *file);
      print_result(line.common.json ? found.text() : baseline_text(found, 100));
      return ExitCode::ok;
    };
  });
}

struct CalibrateArguments {
  ExperimentArguments experiment;
  int64_t runs = 5;
  std::string out;
};

ExitCode calibrate(const CommandLine& line, const CalibrateArguments& arguments) {
  const std::vector<std::string> overrides = arguments.experiment.overrides();
  const auto loaded = load_config<Experiment>(fs::path(arguments.experiment.file()), overrides);
  const fs::path folder =
      arguments.out.empty() ? loaded.value.output.dir / (loaded.value.name + "-calibration") : fs::path(arguments.out);
  std::vector<std::map<std::string, KeyedMetric>> found;
  for (int64_t i = 1; i <= arguments.runs; ++i) {
    RunOptions options;
    options.argv = line.argv;
    options.overrides = overrides;
    options.out = folder / std::to_string(i);
    const RunOutcome outcome = run_experiment(loaded, options);
    if (outcome.code != ExitCode::ok)
      fail(outcome.code, "run {} of {} is not complete: see {}", i, arguments.runs, outcome.folder.string());
    const Record record = read_record(outcome.folder);
    found.push_back(keyed_metrics(record, agreement_rows(record, /*with_p=*/false)));
  }
  const Policy policy = calibrated_policy(found);
  print_result(dump_json_file({{"policy", policy.to_json()}}));
  if (policy.metrics.empty())
    fmt::print(stderr, "headprune: {} runs gave equal numbers: no tolerance is needed on this machine\n",
               arguments.runs);
  return ExitCode::ok;
}

void add_calibrate(CommandLine& line, CLI::App& baseline) {
  CLI::App& command =
      *baseline.add_subcommand("calibrate", "repeat a run and propose tolerances of twice the largest spread");
  auto arguments = std::make_shared<CalibrateArguments>();
  arguments->experiment.add_to(command);
  command.add_option("-n", arguments->runs, "how often")->check(CLI::Range(2, 1000));
  command.add_option("--out", arguments->out, "folder of the run folders (default: beside the experiment's runs)");
  command.callback([&line, arguments] { line.chosen = [&line, arguments] { return calibrate(line, *arguments); }; });
}

}  // namespace

void add_baseline(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("baseline", "the expected values of check: update, calibrate, show");
  command.require_subcommand(1);
  add_update(line, command);
  add_calibrate(line, command);
  add_show(line, command);
  command.footer(
      "Examples:\n  headprune baseline update runs/quickstart --reason 'first values'\n"
      "  headprune baseline calibrate experiments/quickstart/experiment.yaml -n 3\n"
      "  headprune baseline show experiments/quickstart/expected.json");
}

}  // namespace headprune
