#include "core/files.h"
#include "core/log.h"
#include "model/folder.h"
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

namespace {

/// The model with the weights that it had after `step` training steps.
std::shared_ptr<Model> model_at(const SeedRun& run, int64_t step) {
  const fs::path folder = run.workspace.folder / step_folder(run.seed, run.workspace.training_step(step));
  if (!fs::exists(folder))
    fail(ExitCode::run_failed, "{} is missing: training ended before step {}, or the folder was deleted",
         folder.string(), step);
  const auto model = run.model->copy();
  load_weights(read_model_folder(folder), dynamic_cast<TransformerModel&>(*model));
  return model;
}

}  // namespace

Passes prune_stage(SeedRun& run, const IntactScores& scores) {
  const Workspace& workspace = run.workspace;
  Host host(run, Stage::prune, scores);
  const std::vector<MethodDraws> scored = method_draws(workspace.experiment.score);
  for (const auto& item : workspace.experiment.prune.sweeps) {
    log_info("[prune] seed {}: sweep {}", run.seed, item.label);
    const auto rule = item.make();
    const std::shared_ptr<Model> model = rule->at_step() ? model_at(run, *rule->at_step()) : run.model;
    rule->run({.seed = run.seed,
               .sweep = item.label,
               .rule = item.name(),
               .model = *model,
               .own_weights = model != run.model,
               .methods = chosen_methods(scored, rule->methods()),
               .host = host});
  }
  fs::remove_all(workspace.folder / train_folder(run.seed) / kSweepCheckpoints);
  return host.passes();
}

}  // namespace headprune
