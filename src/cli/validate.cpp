#include <memory>

#include "cli/cli.h"
#include "config/load.h"
#include "run/check.h"

namespace headprune {

void add_validate(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("validate", "check everything that can be checked before a run");
  auto arguments = std::make_shared<ExperimentArguments>();
  arguments->add_to(command);
  command.footer("Example:\n  headprune validate my.yaml data.path=/data/sst2");
  command.callback([&line, arguments] {
    line.chosen = [&line, arguments] {
      const auto loaded = load_config<Experiment>(std::filesystem::path(arguments->file()), arguments->overrides());
      const ExperimentPlan plan = check_experiment(loaded.value, loaded.value.output.dir).plan;
      print_result(line.common.json ? dump_json_file(plan.to_json())
                                    : arguments->file() + " is valid.\n" + plan.text());
      return ExitCode::ok;
    };
  });
}

}  // namespace headprune
