// headprune: the commands that read stored runs; the others are handed over.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/baseline.h"
#include "cli/cli.h"
#include "cli/export.h"
#include "cli/run_command.h"
#include "core/files.h"

namespace headprune {

namespace {

/// Becomes headprune-torch, with the same process id, arguments and environment. Returns only by throwing.
ExitCode hand_over(std::vector<std::string> arguments) {
  const fs::path program = program_folder() / "headprune-torch";
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  fail(ExitCode::usage, "cannot start {}, which belongs beside headprune: {}; scripts/build makes both",
       program.string(), std::strerror(errno));
}

}  // namespace

ExitCode run_command(int argc, char** argv) {
  const std::vector<std::string> verbs = {"runs", "report", "compare", "check", "baseline", "export"};
  if (argc < 2 || std::find(verbs.begin(), verbs.end(), argv[1]) == verbs.end()) return hand_over({argv, argv + argc});
  const auto calibrate_elsewhere = [](const CommandLine& line, const CalibrateArguments&) {
    return hand_over(line.argv);
  };
  const auto export_elsewhere = [](const CommandLine& line, const ExportArguments&) { return hand_over(line.argv); };
  return run_command_line(argc, argv,
                          {add_runs, add_report, add_compare, add_check,
                           [=](CommandLine& line) { add_baseline(line, calibrate_elsewhere); },
                           [=](CommandLine& line) { add_export(line, export_elsewhere); }});
}

}  // namespace headprune
