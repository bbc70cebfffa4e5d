#include "core/files.h"
#include "core/log.h"
#include "core/random.h"
#include "model/folder.h"
#include "run/fingerprint.h"
#include "run/plan.h"
#include "run/save_model.h"
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

/// `begun`: whether this attempt has shown a step of the training; those before its first one are an earlier attempt's.
void show(Workspace& workspace, int64_t seed, const TrainProgress& now, bool& begun) {
  if (!begun) workspace.progress.skip(Work::train_step, static_cast<double>(now.step - 1));
  begun = true;
  workspace.progress.say(fmt::format("[train] seed {}: step {}/{} loss {:.4f}, {:.0f} tokens/s", seed, now.step,
                                     now.max_steps, now.loss, now.tokens_per_second));
  workspace.advance(Work::train_step, 1);
}

TrainResult train_model(SeedRun& run, Model& model) {
  Workspace& workspace = run.workspace;
  TrainOptions options = *workspace.experiment.train;
  if (workspace.options.smoke) options.max_steps = kSmokeSteps;
  const std::set<int64_t> kept = wanted_steps(workspace);
  const fs::path folder = workspace.folder / train_folder(run.seed);
  bool begun = false;
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
                .sink = [&](const TrainPoint& row) { workspace.log_training(run.seed, "", row); },
                .on_progress = [&](const TrainProgress& now) { show(workspace, run.seed, now, begun); },
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
  const auto family = workspace.experiment.family();
  const bool several = workspace.experiment.seeds.size() > 1;
  const fs::path relative = model_folder(run.seed, several);
  const fs::path folder = workspace.folder / relative;
  const Record& record = workspace.journal.record();
  ModelInput input = model_input(workspace.experiment, workspace.dataset);
  input.seed = stream_seed(static_cast<uint64_t>(run.seed), "init");
  input.device = workspace.device;
  std::shared_ptr<TransformerModel> model = family->build(input);
  model->use(products_of(workspace.experiment.runtime));
  Passes passes;
  const bool own = workspace.experiment.train || workspace.experiment.convert;  // not what the folder holds
  if (!own) {
    workspace.journal.model({run.seed, 0, family->load_path()->string(), ""});
  } else if (record.has_model(run.seed) && verify_manifest(folder).empty()) {
    load_weights(read_model_folder(folder), *model);
    run.trained_steps = record.models.at(run.seed).step;
    log_info("[model] seed {}: made before, read from {}", run.seed, folder.string());
  } else if (!workspace.experiment.train) {
    workspace.journal.model({run.seed, 0, relative.string(),
                             save_model(workspace, *model, mask_sha256(model->blocks(), HeadSet()), folder)});
  } else {
    const TrainResult trained = train_model(run, *model);
    run.trained_steps = trained.steps;
    const int64_t planned = workspace.training_step(training_steps(workspace.experiment, workspace.dataset, run.seed));
    workspace.progress.skip(Work::train_step, static_cast<double>(planned - trained.steps));  // it stopped early
    passes = {trained.forward, trained.backward};
    workspace.journal.model({run.seed, trained.steps, relative.string(),
                             save_model(workspace, *model, mask_sha256(model->blocks(), HeadSet()), folder)});
  }
  run.set_model(std::move(model));
  return passes;
}

}  // namespace headprune
