// The stages that evaluate masks: the unpruned model, sweeps, sensitivity tables.
#include "core/files.h"
#include "core/log.h"
#include "model/folder.h"
#include "run/host.h"
#include "run/rules.h"
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
std::shared_ptr<TransformerModel> model_at(const SeedRun& run, int64_t step) {
  const fs::path folder = run.workspace.folder / step_folder(run.seed, run.workspace.training_step(step));
  if (!fs::exists(folder))
    fail(ExitCode::run_failed, "{} is gone: it held the model at_step {}; --from model trains again", folder.string(),
         step);
  const std::shared_ptr<TransformerModel> model = run.model().clone();
  load_weights(read_model_folder(folder), *model);
  return model;
}

int64_t points_of(const std::vector<SeedRule>& rules) {
  int64_t points = 0;
  for (const SeedRule& rule : rules) points += rule.plan.points();
  return points;
}

/// Rules as they are once roles are known, which may leave them fewer points than was thought before.
std::vector<SeedRule> rules_now(SeedRun& run, std::vector<SeedRule> (*rules)(const Experiment&, const RuleSubject&)) {
  Workspace& workspace = run.workspace;
  std::vector<SeedRule> now = rules(workspace.experiment, {run.blocks, run.seed, &workspace.journal.record()});
  workspace.points.total += points_of(now) - points_of(rules(workspace.experiment, {run.blocks, run.seed}));
  workspace.status.set_points(workspace.points);
  return now;
}

}  // namespace

Passes evaluate_stage(SeedRun& run) {
  Host host(run, IntactScores(), *run.intact);
  host.evaluate(run.model(), base_point(run, {}));
  return host.passes();
}

Passes prune_stage(SeedRun& run, const IntactScores& scores) {
  Workspace& workspace = run.workspace;
  std::optional<IntactModel> earlier;  // of the last step asked for: sweeps about one share it
  std::optional<int64_t> earlier_step;
  Passes passes;
  for (const SeedRule& sweep : rules_now(run, sweep_rules)) {
    log_info("[prune] seed {}: sweep {}", run.seed, sweep.label);
    const std::optional<int64_t> at_step = sweep.rule->at_step();
    if (at_step) {
      // Weights are not read for a sweep that is there.
      if (Host(run, scores, *run.intact).left_of(sweep.plan) == 0) continue;
      if (run.trained_steps < workspace.training_step(*at_step)) {
        Host(run, scores, *run.intact)
            .give_up(base_point(run, at_step).spec, "no_such_step",
                     fmt::format("sweep {} is about the model at_step {}, and training of seed {} stopped early after "
                                 "{} steps",
                                 sweep.label, *at_step, run.seed, run.trained_steps));
        continue;
      }
      if (earlier_step != at_step) earlier.emplace(workspace, model_at(run, *at_step), /*memory=*/0);
      earlier_step = at_step;
    }
    IntactModel& intact = at_step ? *earlier : *run.intact;
    Host host(run, scores, intact, sweep.label);
    if (at_step) host.evaluate(*intact.model(), base_point(run, at_step));
    run_rule(*sweep.rule, sweep.plan, *intact.model(), host);
    passes += host.passes();
  }
  fs::remove_all(workspace.folder / train_folder(run.seed) / kSweepCheckpoints);
  return passes;
}

Passes sensitivity_stage(SeedRun& run, const IntactScores& scores) {
  Passes passes;
  for (const SeedRule& table : rules_now(run, table_rules)) {
    Host host(run, scores, *run.intact, table.label);
    run_rule(*table.rule, table.plan, run.model(), host);
    passes += host.passes();
  }
  return passes;
}

}  // namespace headprune
