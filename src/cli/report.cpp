#include <memory>

#include "cli/cli.h"
#include "cli/run_arguments.h"
#include "core/files.h"
#include "report/views.h"

namespace headprune {

void add_report(CommandLine& line) {
  struct Arguments {
    std::vector<std::string> runs;
    std::string to;
  };
  CLI::App& command = *line.app.add_subcommand("report", "make every view of a run again from its journal");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("RUN", arguments->runs, "run folders")->required();
  command.add_option("--to", arguments->to, "where the views go (default: the run folder), for one RUN");
  command.footer(
      "Examples:\n  headprune report runs/quickstart\n  headprune report /archive/quickstart --to /tmp/report");
  command.callback([&line, arguments] {
    line.chosen = [&line, arguments] {
      if (!arguments->to.empty() && arguments->runs.size() > 1)
        fail(ExitCode::usage, "--to takes the views of one run, and {} are given", arguments->runs.size());
      Json reports = Json::array();
      for (const std::string& run : arguments->runs) {
        const fs::path to = arguments->to.empty() ? fs::path(run) : fs::path(arguments->to);
        if (arguments->to.empty()) require_writable(to, "--to DIR");
        write_views(run, to);
        reports.push_back((to / "report.html").string());
      }
      std::string text;
      for (const Json& report : reports) text += report.get<std::string>() + '\n';
      print_result(line.common.json ? dump_json_file(reports) : text);
      return ExitCode::ok;
    };
  });
}

}  // namespace headprune
