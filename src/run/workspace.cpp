#include "run/workspace.h"

#include <algorithm>

namespace headprune {

const ScoreMethod& Workspace::method(const std::string& label) const {
  for (const NamedMethod& named : methods)
    if (named.label == label) return *named.method;
  throw std::logic_error("no method " + label);  // chosen_methods() has checked every label
}

void Workspace::advance(Work kind, double pieces) {
  progress.done(kind, pieces);
  status.set_eta(progress.left());
}

void Workspace::log_training(int64_t seed, const std::string& training, const TrainPoint& row) {
  TrainRow logged;
  logged.seed = seed;
  logged.training = training;
  logged.step = row.step;
  logged.epoch = row.epoch;
  logged.split = row.split;
  logged.name = row.name;
  logged.value = row.value;
  if (tensorboard) tensorboard->add(logged);
  train_log.append(std::move(logged));
  status.heartbeat();
}

int64_t Workspace::training_step(int64_t step) const { return options.smoke ? std::min(step, kSmokeSteps) : step; }

IntactModel::IntactModel(const Workspace& workspace, std::shared_ptr<TransformerModel> model, int64_t memory)
    : workspace_(workspace),
      model_(std::move(model)),
      masks_(*model_, *workspace.task, workspace.report_batches, memory) {
  model_->eval();
}

Outcomes IntactModel::evaluate(const HeadSet& removed) {
  return removed.empty() ? base() : masks_.evaluate(removed, workspace_.dataset.tokenizer.get());
}

const Outcomes& IntactModel::base() {
  if (!base_) base_ = masks_.evaluate(HeadSet(), workspace_.dataset.tokenizer.get());
  return *base_;
}

void SeedRun::set_model(std::shared_ptr<TransformerModel> model) {
  blocks = model->blocks();
  const int64_t memory = workspace.mask_memory();
  select_masks.emplace(*model, *workspace.task, workspace.select_batches, memory);
  intact.emplace(workspace, std::move(model), memory);
}

}  // namespace headprune
