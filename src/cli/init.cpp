#include <memory>

#include "cli/cli.h"
#include "cli/starters.h"

namespace headprune {

void add_init(CommandLine& line) {
  struct Arguments {
    std::string task = "classification", model;
  };
  CLI::App& command = *line.app.add_subcommand("init", "a commented experiment file on stdout");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("--task", arguments->task,
                     "classification (default) or regression (both need no file), sst2 (a TSV folder) or "
                     "language_modelling (a text file)");
  command.add_option("--model", arguments->model, "encoder or decoder; by default the one that fits the task");
  command.footer("Example:\n  headprune init > my.yaml && headprune run my.yaml");
  command.callback([&line, arguments] {
    line.chosen = [arguments] {
      for (const Starter& starter : kStarters) {
        if (arguments->task != starter.task) continue;
        if (!arguments->model.empty() && arguments->model != starter.model)
          fail(ExitCode::usage, "there is no starter for task {} with model {}: it uses {}", starter.task,
               arguments->model, starter.model);
        print_result(starter.yaml);
        return ExitCode::ok;
      }
      fail(ExitCode::usage,
           "there is no starter for task '{}': write classification, regression, sst2 or language_modelling",
           arguments->task);
    };
  });
}

}  // namespace headprune
