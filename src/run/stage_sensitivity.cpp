#include "run/stages.h"

namespace headprune {

Passes sensitivity_stage(SeedRun& run, const IntactScores& scores) {
  const Experiment& experiment = run.workspace.experiment;
  Host host(run, Stage::sensitivity, scores, *run.intact);
  run_sensitivity(experiment.sensitivity,
                  {.seed = run.seed,
                   .model = run.model(),
                   .methods = chosen_methods(method_draws(experiment.score), experiment.sensitivity.methods),
                   .host = host});
  return host.passes();
}

}  // namespace headprune
