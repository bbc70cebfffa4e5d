#include <memory>

#include "cli/cli.h"
#include "config/dump.h"
#include "config/shipped.h"
#include "core/files.h"
#include "core/text.h"
#include "run/experiment.h"

namespace headprune {

namespace {

const std::string kConfigs = "configs";

struct Listed {
  std::string name;
  const RegistryBase* registry;
};

std::vector<Listed> registries() {
  return {{"scores", &Registry<ScoreMethod>::instance()}, {"analyses", &Registry<Analysis>::instance()},
          {"rules", &Registry<PruneRule>::instance()},    {"tasks", &Registry<Task>::instance()},
          {"metrics", &Registry<Metric>::instance()},     {"models", &Registry<ModelFamily>::instance()},
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

/// The names of the parts that experiments extend, each with the comment that it begins with.
Json configs_json() {
  Json list = Json::array();
  for (const std::string& name : shipped_names(kShipped + kConfigs + "/")) {
    const std::string text = read_file(shipped_file(name));
    std::vector<std::string> comment;
    for (const std::string_view line : split(text, '\n')) {
      if (!line.starts_with("# ")) break;
      comment.emplace_back(line.substr(2));
    }
    list.push_back({{"name", name}, {"summary", join(comment, " ")}});
  }
  return list;
}

std::string configs_text() {
  std::string text;
  for (const Json& config : configs_json())
    text += fmt::format("{}\n    {}\n", config["name"].get<std::string>(), config["summary"].get<std::string>());
  return text;
}

}  // namespace

std::vector<std::string> listed_names() {
  std::vector<std::string> names;
  for (const Listed& listed : registries()) names.push_back(listed.name);
  names.push_back(kConfigs);
  return names;
}

void add_list(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand(
      "list",
      "what is registered, with options: scores analyses rules tasks metrics models data; parts to extend: configs");
  auto what = std::make_shared<std::string>();
  command.add_option("WHAT", *what, "scores, analyses, rules, tasks, metrics, models, data or configs")->required();
  command.footer("Example:\n  headprune list scores");
  command.callback([&line, what] {
    line.chosen = [&line, what] {
      if (*what == kConfigs) {
        print_result(line.common.json ? dump_json_file(configs_json()) : configs_text());
        return ExitCode::ok;
      }
      for (const Listed& listed : registries()) {
        if (listed.name != *what) continue;
        print_result(line.common.json ? dump_json_file(registry_json(*listed.registry))
                                      : registry_text(*listed.registry));
        return ExitCode::ok;
      }
      fail(ExitCode::usage, "'{}' cannot be listed: write one of {}", *what, join(listed_names(), ", "));
    };
  });
}

}  // namespace headprune
