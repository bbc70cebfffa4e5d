#include <memory>

#include "cli/cli.h"
#include "config/dump.h"
#include "run/experiment.h"

namespace headprune {

namespace {

struct Listed {
  std::string name;
  const RegistryBase* registry;
};

std::vector<Listed> registries() {
  return {{"scores", &Registry<ScoreMethod>::instance()},
          {"rules", &Registry<PruneRule>::instance()},
          {"tasks", &Registry<Task>::instance()},
          {"models", &Registry<ModelFamily>::instance()},
          {"data", &Registry<DataSource>::instance()}};
}

std::string registry_text(const RegistryBase& registry) {
  std::string text;
  for (const std::string& name : registry.names()) {
    text += fmt::format("{}\n    {}\n", name, registry.summary(name));
    const auto options = registry.make_options(name);
    for (const OptionHelp& option : option_help(*options)) {
      std::string value = option.default_value.empty() ? ", required" : ", default " + option.default_value;
      if (option.type == "section") value.clear();  // its keys follow
      text += fmt::format("    {}: {}{}  # {}\n", option.name, option.type, value, option.help);
    }
  }
  return text;
}

Json registry_json(const RegistryBase& registry) {
  Json list = Json::array();
  for (const std::string& name : registry.names()) {
    Json options = Json::array();
    const auto made = registry.make_options(name);
    for (const OptionHelp& option : option_help(*made))
      options.push_back(
          {{"name", option.name}, {"type", option.type}, {"default", option.default_value}, {"help", option.help}});
    list.push_back({{"name", name}, {"summary", registry.summary(name)}, {"options", options}});
  }
  return list;
}

}  // namespace

void add_list(CommandLine& line) {
  CLI::App& command =
      *line.app.add_subcommand("list", "what is registered, with options: scores rules tasks models data");
  auto what = std::make_shared<std::string>();
  command.add_option("WHAT", *what, "scores, rules, tasks, models or data")->required();
  command.footer("Example:\n  headprune list scores");
  command.callback([&line, what] {
    line.chosen = [&line, what] {
      for (const Listed& listed : registries()) {
        if (listed.name != *what) continue;
        print_result(line.common.json ? dump_json_file(registry_json(*listed.registry))
                                      : registry_text(*listed.registry));
        return ExitCode::ok;
      }
      fail(ExitCode::usage, "'{}' cannot be listed: write scores, rules, tasks, models or data", *what);
    };
  });
}

}  // namespace headprune
