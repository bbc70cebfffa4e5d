#include "report/compare/compare.h"

#include <memory>

#include "cli/cli.h"

namespace headprune {

void add_compare(CommandLine& line) {
  struct Arguments {
    std::vector<std::string> runs;
    bool markdown = false, all = false;
  };
  CLI::App& command = *line.app.add_subcommand("compare", "runs side by side: metrics, configuration, rankings");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("RUNS", arguments->runs, "run folders; the first is what the others are compared with")
      ->required()
      ->expected(2, 100);
  command.add_flag("--md", arguments->markdown, "Markdown instead of plain text");
  command.add_flag("--all", arguments->all, "equal metrics too");
  command.footer("Example:\n  headprune compare runs/a runs/b --md");
  command.callback([&line, arguments] {
    line.chosen = [&line, arguments] {
      const RunComparison comparison = compare_runs(arguments->runs);
      if (line.common.json) {
        print_result(dump_json_file(comparison_json(comparison)));
        return ExitCode::ok;
      }
      const Document document = comparison_document(comparison, arguments->all);
      print_result(arguments->markdown ? document_markdown(document) : document_text(document, 120));
      return ExitCode::ok;
    };
  });
}

}  // namespace headprune
