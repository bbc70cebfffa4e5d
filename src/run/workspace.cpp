#include "run/workspace.h"

#include <algorithm>
#include <array>

namespace headprune {

namespace {
constexpr std::array<const char*, 8> kStages = {"data",  "model",       "evaluate", "score",
                                                "prune", "sensitivity", "surgery",  "results"};
}

const char* to_string(Stage stage) { return kStages[static_cast<size_t>(stage)]; }

Stage parse_stage(const std::string& text) {
  for (size_t i = 0; i < kStages.size(); ++i)
    if (text == kStages[i]) return static_cast<Stage>(i);
  fail(ExitCode::usage, "'{}' is no stage; the stages are {}", text, fmt::join(kStages, " "));
}

const ScoreMethod& Workspace::method(const std::string& label) const {
  for (const NamedMethod& named : methods)
    if (named.label == label) return *named.method;
  throw std::logic_error("no method " + label);  // chosen_methods() has checked every label
}

int64_t Workspace::training_step(int64_t step) const { return options.smoke ? std::min(step, kSmokeSteps) : step; }

Stage stage_of(const PointSpec& spec) {
  if (!spec.table.empty()) return Stage::sensitivity;
  return spec.sweep.empty() ? Stage::evaluate : Stage::prune;
}

KnownPoints::KnownPoints(const Workspace& workspace, int64_t seed) {
  const Record& before = workspace.journal.before();
  for (const auto& [id, point] : before.points)
    if (point.spec.seed == seed && workspace.reuses(stage_of(point.spec))) add(point);
  if (workspace.options.retry_failed) return;
  for (const auto& [id, failure] : before.failed) {
    const auto started = before.started_points.find(id);
    if (started != before.started_points.end() && workspace.reuses(stage_of(started->second))) ids.insert(id);
  }
}

void KnownPoints::add(const PointResult& point) {
  ids.insert(point.point);
  // The base is compared with nothing; a point with the same, empty mask is compared with the base.
  if (point.same_as.empty() && !point.fine_tuned && point.spec.rule != "none")
    by_mask_.emplace(std::pair(point.spec.at_step, point.mask), point.point);
}

std::optional<std::string> KnownPoints::same_as(const PointResult& point) const {
  if (point.fine_tuned || point.spec.rule == "none") return std::nullopt;
  const auto found = by_mask_.find({point.spec.at_step, point.mask});
  return found == by_mask_.end() ? std::nullopt : std::optional(found->second);
}

IntactModel::IntactModel(const Workspace& workspace, std::shared_ptr<Model> model, int64_t memory)
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

void SeedRun::set_model(std::shared_ptr<Model> model) {
  blocks = model->blocks();
  const int64_t memory = workspace.experiment.runtime.memory_mb * 1024 * 1024 / 2;  // for each of the two
  select_masks.emplace(*model, *workspace.task, workspace.select_batches, memory);
  intact.emplace(workspace, std::move(model), memory);
}

}  // namespace headprune
