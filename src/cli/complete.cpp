// For shells: what the last word of a command line can become (completion.bash).
#include "config/complete.h"

#include <memory>

#include "cli/cli.h"
#include "config/shipped.h"
#include "run/experiment.h"

namespace headprune {

namespace {

void add_options(const CLI::App& command, std::vector<std::string>& words) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
}

/// `before`: the words after the program's name, without the last one. Nothing is offered where a file is meant: shells
/// complete those themselves.
std::vector<std::string> words_after(const CLI::App& app, const std::vector<std::string>& before,
                                     const std::string& last) {
  const CLI::App* command = &app;
  size_t arguments = 0;
  for (const std::string& word : before) {
    if (word.starts_with("-")) continue;
    const CLI::App* verb = verb_of(*command, word);
    // A file in the place of a command is run.
    if (!verb && command == &app) verb = verb_of(app, "run"), ++arguments;
    if (verb)
      command = verb;
    else
      ++arguments;
  }
  std::vector<std::string> words;
  if (last.starts_with("-")) {
    add_options(*command, words);
    if (command != &app) add_options(app, words);
    return words;
  }
  if (!command->get_subcommands(nullptr).empty()) return verbs_of(*command);
  if (command->get_name() == "list" && arguments == 0) return listed_names();
  const bool experiment = command->get_option_no_throw("FILE") != nullptr;
  if (experiment && arguments == 0 && !last.empty()) return shipped_names(kShipped + std::string("experiments/"));
  if (!experiment || arguments == 0) return {};
  Experiment untouched;
  detail::BoundSection<Experiment> root(untouched);
  return complete_override(root, last);
}

}  // namespace

void add_complete(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("complete", "what the last word can become, for shells");
  command.group("");  // not for people
  auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("WORDS", *words, "after --: the words that follow the program's name, up to the cursor")
      ->required();
  command.callback([&line, words] {
    line.chosen = [&line, words] {
      const std::string last = words->back();
      words->pop_back();
      std::string text;
      for (const std::string& word : words_after(line.app, *words, last))
        if (word.starts_with(last)) text += word + "\n";
      if (!text.empty()) print_result(text);
      return ExitCode::ok;
    };
  });
}

}  // namespace headprune
