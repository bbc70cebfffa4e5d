#include "record/runs.h"

#include <memory>

#include "cli/cli.h"
#include "report/tables/runs_text.h"

namespace headprune {

namespace {

Json summary_json(const RunSummary& run) {
  return {{"path", run.path.string()}, {"name", run.name},           {"experiment_id", run.experiment_id},
          {"state", run.state},        {"stage", run.stage},         {"points", run.points.to_json()},
          {"created", run.created},    {"heartbeat", run.heartbeat}, {"reason", run.reason},
          {"problem", run.problem}};
}

void add_ls(CommandLine& line, CLI::App& runs) {
  CLI::App& command = *runs.add_subcommand("ls", "run folders inside DIR (default: runs)");
  auto dir = std::make_shared<std::string>("runs");
  command.add_option("DIR", *dir, "folder that holds run folders");
  command.callback([&line, dir] {
    line.chosen = [&line, dir] {
      const std::vector<RunSummary> found = list_runs(*dir);
      Json json = Json::array();
      for (const RunSummary& run : found) json.push_back(summary_json(run));
      print_result(line.common.json ? dump_json_file(json) : runs_table(found, 100));
      return ExitCode::ok;
    };
  });
}

void add_info(CommandLine& line, CLI::App& runs) {
  struct Arguments {
    std::string run;
    bool verify = false;
  };
  CLI::App& command = *runs.add_subcommand("info", "state, inputs and digests of one run");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("RUN", arguments->run, "run folder")->required();
  command.add_flag("--verify", arguments->verify, "recompute every digest; exit 4 when something does not match");
  command.callback([&line, arguments] {
    line.chosen = [&line, arguments] {
      const RunSummary run = summarize_run(arguments->run);
      std::optional<std::vector<std::string>> wrong;
      if (arguments->verify) wrong = verify_run(run.path);
      Json json = summary_json(run);
      if (wrong) json["problems"] = *wrong;
      print_result(line.common.json ? dump_json_file(json) : run_info_text(run, read_run_context(run.path), wrong));
      return !wrong || wrong->empty() ? ExitCode::ok : ExitCode::run_failed;
    };
  });
}

void add_diff(CommandLine& line, CLI::App& runs) {
  CLI::App& command = *runs.add_subcommand("diff", "what differs in configuration, inputs, circumstances and tool");
  auto both = std::make_shared<std::vector<std::string>>();
  command.add_option("RUNS", *both, "two run folders")->required()->expected(2);
  command.callback([&line, both] {
    line.chosen = [&line, both] {
      const RunDifferences found = diff_runs((*both)[0], (*both)[1]);
      const Json json = {{"same_experiment", found.same_experiment},
                         {"config", found.config},
                         {"inputs", found.inputs},
                         {"fingerprint", found.fingerprint},
                         {"tool", found.tool}};
      print_result(line.common.json ? dump_json_file(json) : run_diff_text(found));
      return ExitCode::ok;
    };
  });
}

}  // namespace

void add_runs(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("runs", "stored runs: ls, info, diff");
  command.require_subcommand(1);
  add_ls(line, command);
  add_info(line, command);
  add_diff(line, command);
  command.footer("Examples:\n  headprune runs ls\n  headprune runs info runs/quickstart --verify");
}

}  // namespace headprune
