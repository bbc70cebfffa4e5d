#include "cli/baseline.h"
#include "config/load.h"
#include "core/files.h"
#include "record/journal.h"
#include "report/gate/baseline.h"
#include "report/numbers/agreement_rows.h"
#include "report/numbers/keyed_metrics.h"
#include "run/experiment.h"
#include "run/run.h"

namespace headprune {

ExitCode calibrate(const CommandLine& line, const CalibrateArguments& arguments) {
  const std::vector<std::string> overrides = arguments.experiment.overrides();
  const auto loaded = load_config<Experiment>(fs::path(arguments.experiment.file()), overrides);
  const fs::path folder =
      arguments.out.empty() ? loaded.value.output.dir / (loaded.value.name + "-calibration") : fs::path(arguments.out);
  std::vector<std::map<std::string, KeyedMetric>> found;
  for (int64_t i = 1; i <= arguments.runs; ++i) {
    RunOptions options;
    options.argv = line.argv;
    options.overrides = overrides;
    options.out = folder / std::to_string(i);
    const RunOutcome outcome = run_experiment(loaded, options);
    if (outcome.code != ExitCode::ok)
      fail(outcome.code, "run {} of {} is not complete: see {}", i, arguments.runs, outcome.folder.string());
    const Record record = read_record(outcome.folder);
    found.push_back(keyed_metrics(record, agreement_rows(record, /*with_p=*/false)));
  }
  const Policy policy = calibrated_policy(found);
  print_result(dump_json_file({{"policy", policy.to_json()}}));
  if (policy.metrics.empty())
    fmt::print(stderr, "headprune: {} runs gave equal numbers: no tolerance is needed on this machine\n",
               arguments.runs);
  return ExitCode::ok;
}

}  // namespace headprune
