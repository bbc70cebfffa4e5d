#include <memory>

#include "cli/cli.h"
#include "config/flatten.h"
#include "config/shipped.h"
#include "run/experiment.h"

namespace headprune {

namespace {

/// A shipped experiment that stands for a task: what `init` prints is what the project runs itself.
struct Starter {
  const char* task;
  const char* model;
  const char* experiment;
};

constexpr Starter kStarters[] = {{"classification", "encoder", "quickstart"},
                                 {"regression", "encoder", "regression"},
                                 {"sst2", "encoder", "sst2-scratch"},
                                 {"language_modelling", "decoder", "shakespeare"}};

/// The experiment and the parts it extends as one file, which needs none of them.
std::string starter_text(const Starter& starter) {
  const std::string name = fmt::format("{}experiments/{}/experiment.yaml", kShipped, starter.experiment);
  Problems problems;
  Environment environment;
  const ConfigLayers layers = read_layers(fs::path(name), problems, environment);
  problems.throw_if_any();
  Experiment untouched;
  FieldList fields;
  untouched.fields(fields);
  return fmt::format(
      "# Made by `headprune init --task {}`:\n# {} and the parts that it extends, as one file.\n"
      "# `headprune config show FILE --defaults` prints every key with its help.\n#\n{}",
      starter.task, name, flat_yaml(layers, fields.names()));
}

}  // namespace

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
        print_result(starter_text(starter));
        return ExitCode::ok;
      }
      fail(ExitCode::usage,
           "there is no starter for task '{}': write classification, regression, sst2 or language_modelling",
           arguments->task);
    };
  });
}

}  // namespace headprune
