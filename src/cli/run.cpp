#include "run/run.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cli/cli.h"
#include "config/load.h"
#include "core/files.h"
#include "core/text.h"
#include "report/page/terminal.h"
#include "run/check.h"

namespace headprune {

namespace {

struct RunArguments {
  ExperimentArguments experiment;
  RunOptions options;
  bool dry_run = false;
  int64_t threads = 0;
  std::string until, from, retry, out;
};

/// As wide as the terminal, within what reads well; colour only on a terminal that wants it.
TerminalOptions terminal_options(const std::filesystem::path& folder) {
  TerminalOptions options;
  options.folder = folder.string();
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1) return options;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) options.width = std::clamp<size_t>(size.ws_col, 60, 120);
  options.colour = !std::getenv("NO_COLOR") && !std::getenv("CI");
  return options;
}

ExitCode run_now(const CommandLine& line, RunArguments& arguments) {
  RunOptions& options = arguments.options;
  options.argv = line.argv;
  options.overrides = arguments.experiment.overrides();
  if (arguments.threads > 0) options.overrides.push_back(fmt::format("runtime.threads={}", arguments.threads));
  options.out = arguments.out;
  if (!arguments.until.empty()) options.until = parse_stage(arguments.until);
  if (!arguments.from.empty()) options.from = parse_stage(arguments.from);
  for (const std::string_view word : split(arguments.retry, ',')) {
    if (word == "failed")
      options.retry_failed = true;
    else if (!word.empty() && word != "interrupted")  // interrupted points are always evaluated again
      fail(ExitCode::usage, "--retry takes failed, interrupted or both joined by a comma, not '{}'", word);
  }
  const auto loaded = load_config<Experiment>(std::filesystem::path(arguments.experiment.file()), options.overrides);
  if (arguments.dry_run) {
    const std::filesystem::path& dir = options.out.empty() ? loaded.value.output.dir : options.out;
    const ExperimentPlan plan = check_experiment(loaded.value, dir).plan;
    print_result(line.common.json ? dump_json_file(plan.to_json()) : plan.text());
    return ExitCode::ok;
  }
  const RunOutcome outcome = run_experiment(loaded, options);
  if (line.common.json)
    print_result(read_file(outcome.folder / "results.json"));
  else
    print_result(terminal_summary(read_record(outcome.folder), terminal_options(outcome.folder)));
  return outcome.code;
}

}  // namespace

void add_run(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("run", "the whole flow; running it again continues it");
  auto arguments = std::make_shared<RunArguments>();
  arguments->experiment.add_to(command);
  command.add_flag("--dry-run", arguments->dry_run, "print points, cost and disk needed; stop");
  command.add_flag("--smoke", arguments->options.smoke, "2 training steps, 2 points a sweep and table, the whole flow");
  command.add_option("-j", arguments->threads, "cores that compute: short for runtime.threads=N")
      ->check(CLI::PositiveNumber);
  command.add_option("--until", arguments->until, "stop after this stage: " + join(stage_names(), " "));
  command.add_option("--from", arguments->from, "redo from this stage on stored earlier results");
  command.add_option("--out", arguments->out, "exactly this run folder");
  command.add_flag("--new", arguments->options.fresh, "a new run folder even if one could be continued");
  command.add_option("--retry", arguments->retry, "which points to evaluate again: failed,interrupted");
  command.add_flag("--fail-fast", arguments->options.fail_fast, "stop at the first failed point");
  command.add_option("--max-failures", arguments->options.max_failures, "stop after this many failed points")
      ->check(CLI::PositiveNumber);
  command.add_flag("--accept-fingerprint", arguments->options.accept_fingerprint,
                   "continue under other threads, device, library or bootstrap draws; the results say so");
  command.footer(
      "Examples:\n  headprune run experiment.yaml\n  headprune run experiment.yaml seeds=[1,2,3] --out /tmp/try\n"
      "  headprune run experiment.yaml --dry-run");
  command.callback([&line, arguments] { line.chosen = [&line, arguments] { return run_now(line, *arguments); }; });
}

}  // namespace headprune
