// headprune-torch: every command.
#include <stdexcept>

#include "cli/baseline.h"
#include "cli/cli.h"
#include "cli/export.h"
#include "cli/run_command.h"
#include "run/experiment.h"

namespace headprune {

namespace {

template <class T>
void check_registry(const char* what) {
  for (const std::string& name : Registry<T>::instance().duplicates())
    throw std::logic_error(fmt::format("two {} are registered as '{}'", what, name));
}

void check_registries() {
  check_registry<DataSource>("data sources");
  check_registry<Task>("tasks");
  check_registry<ModelFamily>("models");
  check_registry<ScoreMethod>("scores");
  check_registry<PruneRule>("rules");
}

}  // namespace

ExitCode run_command(int argc, char** argv) {
  check_registries();
  return run_command_line(
      argc, argv,
      {add_run, add_validate, add_init, add_list, add_config, add_inspect, add_generate, add_runs, add_report,
       add_compare, add_check, add_complete, [](CommandLine& line) { add_baseline(line, calibrate); },
       [](CommandLine& line) { add_export(line, export_model_of); }});
}

}  // namespace headprune
