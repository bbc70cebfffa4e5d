#include "cli/cli.h"

#include <algorithm>
#include <cstdio>

#include "config/load.h"
#include "core/log.h"
#include "core/process.h"
#include "record/host.h"

namespace headprune {

namespace {

std::string version_text() {
  const ToolInfo tool = tool_info();
  return fmt::format("headprune {} (git {}{}), LibTorch {}", tool.version, tool.git, tool.dirty ? ", modified" : "",
                     HEADPRUNE_TORCH_VERSION);
}

/// A script whose variable is not set: none of our files or folders has an empty name. A prompt may be empty, and the
/// word that a shell asks about (the command without a group, which is not for people).
void refuse_empty_values(const CLI::App& command) {
  if (command.get_group().empty()) return;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& given = option->results();
    if (option->get_name() == "--prompt" || std::find(given.begin(), given.end(), "") == given.end()) continue;
    fail(ExitCode::usage, "{} is given an empty text: write a value", option->get_name());
  }
  for (const CLI::App* chosen : command.get_subcommands()) refuse_empty_values(*chosen);
}

/// Forms of other tools' command lines that are answered with ours.
void refuse_foreign_forms(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "-m" || argument == "--multirun")
      fail(ExitCode::usage, "{} is not supported: write seeds=[1,2,3], and list sweeps in the file", argument);
    if (argument == "--set" || argument.rfind("--set=", 0) == 0)
      fail(ExitCode::usage, "--set is not supported: write key=value as an argument of its own");
  }
}

}  // namespace

void ExperimentArguments::add_to(CLI::App& command) {
  command.add_option("FILE", words, "experiment file, and key=value overrides")->required();
}

std::string ExperimentArguments::file() const {
  std::string found;
  for (const std::string& word : words) {
    if (looks_like_override(word)) continue;
    if (!found.empty())
      fail(ExitCode::usage, "two experiment files ({} and {}): give one, and use extends inside it", found, word);
    found = word;
  }
  if (found.empty()) fail(ExitCode::usage, "no experiment file: write headprune run FILE.yaml [key=value ...]");
  return found;
}

std::vector<std::string> ExperimentArguments::overrides() const {
  std::vector<std::string> found;
  std::copy_if(words.begin(), words.end(), std::back_inserter(found), looks_like_override);
  return found;
}

void print_result(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
  require_output_written();
}

std::vector<std::string> verbs_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* verb : command.get_subcommands(nullptr))
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  return names;
}

const CLI::App* verb_of(const CLI::App& command, const std::string& word) {
  for (const CLI::App* verb : command.get_subcommands(nullptr))
    if (verb->get_name() == word) return verb;
  return nullptr;
}

ExitCode run_command_line(int argc, char** argv, const std::vector<AddCommand>& commands) {
  CommandLine line;
  line.argv.assign(argv, argv + argc);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  refuse_foreign_forms(arguments);

  CLI::App& app = line.app;
  app.name("headprune");
  app.description("Attention-head pruning experiments on transformers, from one YAML file.");
  app.footer(
      "Examples:\n  headprune experiments/quickstart/experiment.yaml\n  headprune validate my.yaml\n"
      "  headprune run my.yaml data.path=/data/sst2 seeds=[1,2,3]");
  app.set_version_flag("--version", version_text(), "version, git state and LibTorch");
  app.add_flag("--json", line.common.json, "print JSON where the command prints a table");
  app.add_flag("--quiet", line.common.quiet, "no log lines and no progress on stderr");
  app.add_option("--log-level", line.common.log_level, "debug, info, warn, error or off");
  app.require_subcommand(1);
  app.fallthrough();
  for (const AddCommand& add : commands) add(line);

  // `headprune FILE.yaml ...` is `headprune run FILE.yaml ...`; a first argument that is a verb is a verb.
  if (!arguments.empty() && arguments[0].rfind('-', 0) != 0 && !verb_of(app, arguments[0])) {
    const std::string& first = arguments[0];
    if (first.find('.') == std::string::npos && first.find('/') == std::string::npos)
      fail(ExitCode::usage, "'{}' is neither a command ({}) nor an experiment file", first,
           fmt::join(verbs_of(app), " "));
    arguments.insert(arguments.begin(), "run");
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return ExitCode::ok;
    }
    fail(ExitCode::usage, "{} (see headprune --help)", error.what());
  }
  refuse_empty_values(app);
  set_log_level(line.common.quiet ? LogLevel::error : parse_log_level(line.common.log_level));
  return line.chosen();
}

}  // namespace headprune
