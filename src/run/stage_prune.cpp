#include <algorithm>

#include "core/files.h"
#include "core/log.h"
#include "model/folder.h"
#include "run/stages.h"

namespace headprune {

namespace {

/// The unpruned model of a seed, after `at_step` training steps where that is given.
PlannedPoint base_point(const SeedRun& run, std::optional<int64_t> at_step) {
  PlannedPoint base;
  base.spec.seed = run.seed;
  base.spec.rule = "none";
  base.spec.at_step = at_step;
  base.heads_total = static_cast<int64_t>(all_heads(run.blocks).size());
  return base;
}

/// The model with the weights that it had after `step` training steps.
std::shared_ptr<Model> model_at(const SeedRun& run, int64_t step) {
  const fs::path folder = run.workspace.folder / step_folder(run.seed, run.workspace.training_step(step));
  if (!fs::exists(folder))
    fail(ExitCode::run_failed, "{} is gone: it held the model at_step {}; --from model trains again", folder.string(),
         step);
  std::shared_ptr<Model> model = run.model().copy();
  load_weights(read_model_folder(folder), dynamic_cast<TransformerModel&>(*model));
  return model;
}

/// Whether earlier attempts left nothing of a sweep to do, so that no weights need to be read for it.
bool all_recorded(const SeedRun& run, const std::string& sweep, int64_t points) {
  if (!run.workspace.reuses(Stage::prune)) return false;
  const auto& recorded = run.workspace.journal.before().points;
  return std::count_if(recorded.begin(), recorded.end(), [&](const auto& entry) {
           return entry.second.spec.seed == run.seed && entry.second.spec.sweep == sweep;
         }) >= points;
}

}  // namespace

Passes evaluate_stage(SeedRun& run) {
  const IntactScores no_scores;
  Host host(run, Stage::evaluate, no_scores, *run.intact);
  host.evaluate(run.model(), base_point(run, {}));
  return host.passes();
}

Passes prune_stage(SeedRun& run, const IntactScores& scores) {
  const Workspace& workspace = run.workspace;
  const std::vector<MethodDraws> scored = method_draws(workspace.experiment.score);
  std::optional<IntactModel> earlier;  // of the last step asked for: sweeps about one share it
  std::optional<int64_t> earlier_step;
  Passes passes;
  for (const auto& item : workspace.experiment.prune.sweeps) {
    log_info("[prune] seed {}: sweep {}", run.seed, item.label);
    const auto rule = item.make();
    const std::vector<MethodDraws> methods = chosen_methods(scored, rule->methods());
    const std::optional<int64_t> at_step = rule->at_step();
    if (at_step) {
      if (all_recorded(run, item.label, rule->plan(run.blocks, methods).points)) continue;
      if (run.trained_steps < workspace.training_step(*at_step)) {
        Host(run, Stage::prune, scores, *run.intact)
            .give_up(base_point(run, at_step).spec, "no_such_step",
                     fmt::format("sweep {} is about the model at_step {}, and training of seed {} stopped early after "
                                 "{} steps",
                                 item.label, *at_step, run.seed, run.trained_steps));
        continue;
      }
      if (earlier_step != at_step) earlier.emplace(workspace, model_at(run, *at_step), /*memory=*/0);
      earlier_step = at_step;
    }
    IntactModel& intact = at_step ? *earlier : *run.intact;
    Host host(run, Stage::prune, scores, intact);
    if (at_step) host.evaluate(*intact.model(), base_point(run, at_step));
    rule->run({.seed = run.seed,
               .sweep = item.label,
               .rule = item.name(),
               .model = *intact.model(),
               .at_step = at_step,
               .methods = methods,
               .host = host});
    passes.forward += host.passes().forward;
    passes.backward += host.passes().backward;
  }
  fs::remove_all(workspace.folder / train_folder(run.seed) / kSweepCheckpoints);
  return passes;
}

}  // namespace headprune
