#include "core/files.h"
#include "core/log.h"
#include "run/stages.h"

namespace headprune {

Passes evaluate_stage(SeedRun& run) {
  const IntactScores no_scores;
  Host host(run, Stage::evaluate, no_scores);
  PlannedPoint base;
  base.spec.seed = run.seed;
  base.spec.rule = "none";
  base.heads_total = static_cast<int64_t>(all_heads(run.blocks).size());
  host.evaluate(*run.model, base);
  return host.passes();
}

Passes prune_stage(SeedRun& run, const IntactScores& scores) {
  const Workspace& workspace = run.workspace;
  Host host(run, Stage::prune, scores);
  const std::vector<MethodDraws> scored = method_draws(workspace.experiment.score);
  for (const auto& item : workspace.experiment.prune.sweeps) {
    log_info("[prune] seed {}: sweep {}", run.seed, item.label);
    const auto rule = item.make();
    rule->run({.seed = run.seed,
               .sweep = item.label,
               .rule = item.name(),
               .model = *run.model,
               .methods = chosen_methods(scored, rule->methods()),
               .host = host});
  }
  fs::remove_all(workspace.folder / train_folder(run.seed) / kSweepCheckpoints);
  return host.passes();
}

}  // namespace headprune
