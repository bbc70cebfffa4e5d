#include <unistd.h>

#include <map>
#include <memory>

#include "cli/cli.h"
#include "core/files.h"
#include "report/report.h"
#include "report/tables.h"
#include "report/tensorboard.h"

namespace headprune {

namespace {

struct ExportArguments {
  std::string format, run, to;
};

/// Files by their path below the new folder.
std::map<std::string, std::string> exported_files(const ExportArguments& arguments) {
  const Record record = read_record(arguments.run);
  if (arguments.format == "csv") {
    return {{"scores.csv", scores_csv(record)},
            {"curve.csv", curve_csv(record)},
            {"sensitivity.csv", sensitivity_csv(record)},
            {"agreement.csv", agreement_csv(agreement_rows(record))},
            {"timing.csv", timing_csv(record)}};
  }
  if (arguments.format == "tensorboard") return tensorboard_files(read_report_input(arguments.run, record));
  fail(ExitCode::usage, "'{}' cannot be exported: write csv or tensorboard", arguments.format);
}

ExitCode export_now(const ExportArguments& arguments) {
  if (fs::exists(arguments.to)) fail(ExitCode::usage, "{} exists already: name a new folder with --to", arguments.to);
  const std::map<std::string, std::string> files = exported_files(arguments);
  // Built aside, so that the folder appears whole or not at all.
  const fs::path aside = arguments.to + ".tmp-" + std::to_string(::getpid());
  for (const auto& [name, bytes] : files) {
    make_folders((aside / name).parent_path());
    write_file(aside / name, bytes);
  }
  std::error_code error;
  fs::rename(aside, arguments.to, error);
  if (error) fail(ExitCode::io, "cannot make {}: {}", arguments.to, error.message());
  print_result(arguments.to);
  return ExitCode::ok;
}

}  // namespace

void add_export(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("export", "a run's numbers for other tools: csv, tensorboard");
  auto arguments = std::make_shared<ExportArguments>();
  command.add_option("FORMAT", arguments->format, "csv or tensorboard")->required();
  command.add_option("RUN", arguments->run, "run folder")->required();
  command.add_option("--to", arguments->to, "a folder that does not exist yet")->required();
  command.footer("Example:\n  headprune export tensorboard runs/quickstart --to tb && tensorboard --logdir tb");
  command.callback([&line, arguments] { line.chosen = [arguments] { return export_now(*arguments); }; });
}

}  // namespace headprune
