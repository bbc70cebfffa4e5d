// The command line: one file a command. Each adds its subcommand to the parser and leaves what to do when chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace headprune {

/// Options that every command takes.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  std::string log_level = "info";
};

/// The parser and what the chosen command will do.
struct CommandLine {
  CLI::App app;
  CommonOptions common;
  std::vector<std::string> argv;
  std::function<ExitCode()> chosen;
};

/// FILE and key=value arguments of a command that reads an experiment.
struct ExperimentArguments {
  std::vector<std::string> words;
  void add_to(CLI::App& command);
  /// The one file. Throws Error(usage) when there is none or more than one.
  std::string file() const;
  std::vector<std::string> overrides() const;
};

using AddCommand = std::function<void(CommandLine&)>;

// Those that read stored runs, without LibTorch.
void add_runs(CommandLine& line);
void add_report(CommandLine& line);
void add_compare(CommandLine& line);
void add_check(CommandLine& line);
// The others.
void add_init(CommandLine& line);
void add_run(CommandLine& line);
void add_validate(CommandLine& line);
void add_list(CommandLine& line);
void add_config(CommandLine& line);
void add_inspect(CommandLine& line);
void add_generate(CommandLine& line);
void add_complete(CommandLine& line);

/// Names of the commands below `command`, without those that are not for people.
std::vector<std::string> verbs_of(const CLI::App& command);
/// The command below `command` that `word` names, or nullptr.
const CLI::App* verb_of(const CLI::App& command, const std::string& word);

/// Parses the command line, which may have any of `commands`, and does what it says.
ExitCode run_command_line(int argc, char** argv, const std::vector<AddCommand>& commands);

/// What `headprune list` lists.
std::vector<std::string> listed_names();

/// Text or JSON that was asked for, to stdout.
void print_result(const std::string& text);

}  // namespace headprune
