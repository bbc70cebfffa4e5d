#include "core/files.h"
#include "core/log.h"
#include "core/random.h"
#include "model/folder.h"
#include "run/plan.h"
#include "run/stages.h"
#include "train/trainer.h"

namespace headprune {

namespace {

/// Training steps whose weights a sweep asks for.
std::set<int64_t> wanted_steps(const Workspace& workspace) {
  std::set<int64_t> steps;
  for (const auto& item : workspace.experiment.prune.sweeps)
    if (const auto step = item.make()->at_step()) steps.insert(workspace.training_step(*step));
  return steps;
}

void keep_step(const SeedRun& run, const Model& model, int64_t step) {
  const fs::path folder = run.workspace.folder / step_folder(run.seed, step);
  if (fs::exists(folder) && verify_manifest(folder).empty()) return;  // by an earlier attempt
  save_model(run.workspace, model, mask_sha256(model.blocks(), HeadSet()), folder);
}

TrainResult train_model(SeedRun& run, Model& model) {
  Workspace& workspace = run.workspace;
  TrainOptions options = *workspace.experiment.train;
  if (workspace.options.smoke) options.max_steps = kSmokeSteps;
  const std::set<int64_t> kept = wanted_steps(workspace);
  const fs::path folder = workspace.folder / train_folder(run.seed);
  const auto record_row = [&](const TrainPoint& row) {
    TrainRow logged;
    logged.seed = run.seed;
    logged.step = row.step;
    logged.epoch = row.epoch;
    logged.split = row.split;
    logged.name = row.name;
    logged.value = row.value;
    if (workspace.tensorboard) workspace.tensorboard->add(logged);
    workspace.train_log.append(std::move(logged));
    workspace.status.heartbeat();
  };
  return train({.model = model,
                .task = *workspace.task,
                .dataset = workspace.dataset,
                .options = options,
                .removed = HeadSet(),
                .folder = folder,
                .seed = stream_seed(static_cast<uint64_t>(run.seed), "train"),
                .config_yaml = workspace.config_yaml,
                .on_step =
                    [&](int64_t step) {
                      if (kept.contains(step)) keep_step(run, model, step);
                    },
                .sink = record_row,
                .on_checkpoint =
                    [&](const SavedCheckpoint& saved) {
                      workspace.journal.checkpoint({run.seed, saved.step,
                                                    fs::relative(saved.path, workspace.folder).string(),
                                                    saved.manifest_sha256});
                    },
                .on_warning =
                    [&](const std::string& message) {
                      workspace.journal.warn({"training", message});
                    }});
}

}  // namespace

Passes model_stage(SeedRun& run) {
  Workspace& workspace = run.workspace;
  const auto family = workspace.experiment.model.make();
  const bool several = workspace.experiment.seeds.size() > 1;
  const fs::path relative = model_folder(run.seed, several);
  const fs::path folder = workspace.folder / relative;
  const Record& before = workspace.journal.before();
  ModelInput input = model_input(workspace.experiment, workspace.dataset);
  input.seed = stream_seed(static_cast<uint64_t>(run.seed), "init");
  input.device = workspace.device;
  std::shared_ptr<Model> model = family->build(input);
  Passes passes;
  if (!workspace.experiment.train) {
    workspace.journal.model({run.seed, 0, family->load_path()->string(), ""});
  } else if (workspace.reuses(Stage::model) && before.models.count(run.seed) && verify_manifest(folder).empty()) {
    load_weights(read_model_folder(folder), dynamic_cast<TransformerModel&>(*model));
    run.trained_steps = before.models.at(run.seed).step;
    log_info("[model] seed {}: trained before, read from {}", run.seed, folder.string());
  } else {
    if (!workspace.reuses(Stage::model)) fs::remove_all(workspace.folder / train_folder(run.seed));
    const TrainResult trained = train_model(run, *model);
    run.trained_steps = trained.steps;
    passes = {trained.forward, trained.backward};
    workspace.journal.model({run.seed, trained.steps, relative.string(),
                             save_model(workspace, *model, mask_sha256(model->blocks(), HeadSet()), folder)});
  }
  run.set_model(std::move(model));
  return passes;
}

}  // namespace headprune
