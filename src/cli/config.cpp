#include <memory>

#include "cli/cli.h"
#include "config/dump.h"
#include "config/load.h"
#include "run/experiment.h"

namespace headprune {

namespace {

struct ShowArguments {
  ExperimentArguments experiment;
  bool origins = false, defaults = false;
};

ExitCode show(const CommandLine& line, const ShowArguments& arguments) {
  const auto loaded =
      load_config<Experiment>(std::filesystem::path(arguments.experiment.file()), arguments.experiment.overrides());
  if (line.common.json) {
    print_result(dump_json_file(config_json(loaded.value)));
    return ExitCode::ok;
  }
  const YamlStyle style{.help = arguments.defaults,
                        .defaults = arguments.defaults,
                        .origins = arguments.origins ? &loaded.origins : nullptr,
                        .extras = &loaded.extras};
  print_result(config_yaml(loaded.value, style));
  return ExitCode::ok;
}

}  // namespace

void add_config(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("config", "the effective configuration; the schema for editors");
  command.require_subcommand(1);
  CLI::App& shown = *command.add_subcommand("show", "effective configuration as YAML, or with --json as JSON");
  auto arguments = std::make_shared<ShowArguments>();
  arguments->experiment.add_to(shown);
  shown.add_flag("--origins", arguments->origins, "say where each value was set");
  shown.add_flag("--defaults", arguments->defaults, "also what has its default value, each key with its help");
  shown.footer("Example:\n  headprune config show my.yaml train.learning_rate=1e-4 --origins");
  shown.callback([&line, arguments] { line.chosen = [&line, arguments] { return show(line, *arguments); }; });

  CLI::App& schema = *command.add_subcommand("schema", "JSON Schema of an experiment file");
  schema.footer(
      "Example:\n  headprune config schema > headprune.schema.json\n"
      "  # then, first line of an experiment: # yaml-language-server: $schema=headprune.schema.json");
  schema.callback([&line] {
    line.chosen = [] {
      print_result(dump_json_file(config_schema<Experiment>()));
      return ExitCode::ok;
    };
  });
}

}  // namespace headprune
