#include "cli/export.h"

#include <map>
#include <memory>

#include "cli/cli.h"
#include "core/files.h"
#include "core/stop.h"
#include "model/export_form.h"
#include "report/page/report.h"
#include "report/tables/contest_table.h"
#include "report/tables/method_pairs.h"
#include "report/tables/tables.h"
#include "report/tensorboard/tensorboard.h"

namespace headprune {

namespace {

/// Files by their path below the new folder.
std::map<std::string, std::string> exported_files(const ExportArguments& arguments) {
  const Record record = read_record(arguments.run);
  if (arguments.format == "csv") {
    return {{"scores.csv", scores_csv(record)},
            {"curve.csv", curve_csv(record)},
            {"methods.csv", methods_csv(record)},
            {"contest.csv", contest_csv(record)},
            {"sensitivity.csv", sensitivity_csv(record)},
            {"agreement.csv", agreement_csv(agreement_rows(record))},
            {"timing.csv", timing_csv(record)}};
  }
  if (arguments.format == "tensorboard") return tensorboard_files(read_report_input(arguments.run, record));
  fail(ExitCode::usage, "'{}' cannot be exported: write hf, csv or tensorboard", arguments.format);
}

ExitCode export_numbers(const ExportArguments& arguments) {
  if (fs::exists(arguments.to)) fail(ExitCode::usage, "{} exists already: name a new folder with --to", arguments.to);
  const std::map<std::string, std::string> files = exported_files(arguments);
  fs::path to = fs::absolute(arguments.to);
  if (!to.has_filename()) to = to.parent_path();
  make_folders(to.parent_path());
  FolderWriter folder(to);
  for (const auto& [name, bytes] : files) {
    check_stop();
    folder.write(name, bytes);
  }
  check_stop();
  folder.commit();
  print_result(arguments.to);
  return ExitCode::ok;
}

}  // namespace

void add_export(CommandLine& line, ExportModel export_model) {
  CLI::App& command =
      *line.app.add_subcommand("export", "a pruned model (hf), or a run's numbers for other tools (csv, tensorboard)");
  struct Parsed {
    std::vector<std::string> words;
    ExportArguments arguments;
  };
  auto parsed = std::make_shared<Parsed>();
  command.add_option("[FORMAT] RUN", parsed->words, "hf (the default), csv or tensorboard; and a run folder")
      ->required()
      ->expected(1, 2);
  command.add_option("--point", parsed->arguments.point, "hf: id of the point, or the beginning of it (see curve.csv)");
  std::vector<std::string> forms;
  for (const auto& entry : EnumNames<ExportForm>::names) forms.emplace_back(entry.first);
  command
      .add_option("--form", parsed->arguments.form,
                  "hf: compact, heads are gone; zeroed, they stay and give nothing; of the Llama family also padded, "
                  "layers are filled up to the largest; degroup, every head has keys and values of its own")
      ->check(CLI::IsMember(forms));
  command.add_option("--to", parsed->arguments.to, "a folder that does not exist yet");
  command.footer(
      "Examples:\n  headprune export runs/minilm-sst2 --point 3f2a --form zeroed --to pruned\n"
      "  headprune export tensorboard runs/quickstart --to tb && tensorboard --logdir tb");
  command.callback([&line, parsed, export_model] {
    line.chosen = [&line, parsed, export_model] {
      ExportArguments arguments = parsed->arguments;
      arguments.format = parsed->words.size() == 2 ? parsed->words.front() : "hf";
      arguments.run = parsed->words.back();
      if (arguments.format == "mlflow")
        fail(ExitCode::usage, "MLflow is filled through its own client: scripts/export-mlflow {} --tracking-uri URI",
             arguments.run);
      if (arguments.to.empty()) fail(ExitCode::usage, "where to? name a folder that does not exist yet with --to");
      // So that what is half written is removed.
      install_signal_handlers({"INT", "TERM", "HUP"});
      if (arguments.format == "hf") return export_model(line, arguments);
      if (!arguments.point.empty() || !arguments.form.empty())
        fail(ExitCode::usage, "--point and --form belong to the format hf, not to {}", arguments.format);
      return export_numbers(arguments);
    };
  });
}

}  // namespace headprune
