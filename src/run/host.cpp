#include "run/host.h"

#include <algorithm>
#include <cmath>

#include "core/log.h"
#include "core/random.h"
#include "core/stop.h"
#include "metric/metric.h"
#include "prune/learned.h"
#include "run/constant_predictions.h"
#include "run/measure.h"
#include "run/rules.h"
#include "run/save_model.h"
#include "train/trainer.h"

namespace headprune {

namespace {

/// --smoke evaluates this many points of each sweep and table.
constexpr int64_t kSmokePoints = 2;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Host::Host(SeedRun& run, const IntactScores& scores, IntactModel& intact, std::string label)
    : run_(run), workspace_(run.workspace), scores_(scores), intact_(intact), label_(std::move(label)) {}

bool Host::done(const PointSpec& spec) const {
  return workspace_.journal.record().settled(point_id(workspace_.experiment_id, spec));
}

int64_t Host::left_of(const RulePlan& plan) const {
  int64_t left = 0;
  for (const Unit& unit : plan.units)
    for (const PlannedPoint& point : unit.points) left += done(point.spec) ? 0 : 1;
  return left;
}

bool Host::enough_for_smoke(const PointSpec& spec) {
  return workspace_.options.smoke && ++smoke_counts_[spec.table + "/" + spec.sweep] > kSmokePoints;
}

void Host::begin(const Unit& unit) {
  unit_ = unit.name;
  say();
}

void Host::say() {
  const PointCounts& points = workspace_.points;
  workspace_.progress.say(fmt::format("[{}] seed {}: points {}/{}, {}{}", workspace_.status.status().stage, run_.seed,
                                      points.done + points.failed, points.total, label_,
                                      unit_.empty() ? "" : " " + unit_));
}

void Host::evaluate(Model& model, const PlannedPoint& point) {
  check_stop();
  if (done(point.spec)) return;
  const double share = pass_share(point, run_.blocks);
  if (enough_for_smoke(point.spec)) return workspace_.progress.skip(Work::point, share);
  PointResult result = described(run_, model, point);
  workspace_.journal.point_start(result.point, point.spec);
  const auto start = std::chrono::steady_clock::now();
  if (const PointResult* same = workspace_.journal.record().evaluated(result)) {
    result.same_as = same->point;
    workspace_.progress.skip(Work::point, share);
  } else {
    measure(model, result);
    workspace_.advance(Work::point, share);
    for (const MetricResult& metric : result.metrics)
      if (!std::isfinite(metric.estimate.value))
        return failed(point.spec, "nonfinite", fmt::format("{} is not finite under this mask", metric.name));
  }
  if (point.keep_weights) keep_weights(model, result);
  result.dur_s = seconds_since(start);
  workspace_.journal.point_done(result);
  ++workspace_.points.done;
  workspace_.status.set_points(workspace_.points);
  workspace_.status.heartbeat();
  say();
}

void Host::give_up(const PointSpec& spec, const std::string& reason, const std::string& message) {
  if (done(spec)) return;
  workspace_.journal.point_start(point_id(workspace_.experiment_id, spec), spec);
  failed(spec, reason, message);
}

/// The folder holds the pruned model, so that opened by itself it is the model of the point.
void Host::keep_weights(const Model& model, PointResult& result) const {
  const auto pruned = model.copy();
  pruned->remove_heads(result.removed);
  result.weights = point_folder(result.point).string();
  result.weights_manifest_sha256 = save_model(workspace_, *pruned, result.mask, workspace_.folder / result.weights);
}

void Host::measure(Model& model, PointResult& result) {
  const bool is_base = result.spec.rule == "none";
  // A copy that a sweep trains has other weights than the intact model, whose passes are kept.
  const auto own_weights = [&] {
    return MaskEvaluator(model, *workspace_.task, workspace_.report_batches, /*memory=*/0)
        .evaluate(result.removed, workspace_.dataset.tokenizer.get());
  };
  const bool intact_weights = &model == intact_.model().get();
  const bool known = intact_weights && result.removed.empty() && intact_.knows_base();
  const Outcomes outcomes = intact_weights ? intact_.evaluate(result.removed) : own_weights();
  // What is known costs nothing; a continued run computes its base once more.
  const int64_t evaluations = (known ? 0 : 1) + (is_base || intact_.knows_base() ? 0 : 1);
  passes_.forward += evaluations * static_cast<int64_t>(workspace_.report_batches.size());
  warn_of_constant_predictions(workspace_, result.spec, outcomes);
  add_metrics(run_, outcomes, is_base ? nullptr : &intact_.base(), result);
}

void Host::failed(const PointSpec& spec, const std::string& reason, const std::string& message) {
  const std::string id = point_id(workspace_.experiment_id, spec);
  workspace_.journal.point_failed({id, reason, message});
  log_warn("[{}] point {} failed: {}", to_string(stage_of(spec)), id, message);
  ++workspace_.points.failed;
  workspace_.status.set_points(workspace_.points);
  const RunOptions& options = workspace_.options;
  if (options.fail_fast) fail(ExitCode::run_failed, "stopped at the first failed point (--fail-fast): {}", message);
  if (options.max_failures > 0 && workspace_.points.failed >= options.max_failures)
    fail(ExitCode::run_failed, "stopped after {} failed points (--max-failures): {}", workspace_.points.failed,
         message);
}

Importance Host::intact_scores(const RankedBy& by) { return scores_.at({by.method, by.draw}); }

ScoreInput Host::score_input(Model& model, const HeadSet& removed, HeadUnit unit) {
  return {.model = model,
          .task = *workspace_.task,
          .batches = workspace_.score_batches,
          .examples = static_cast<int64_t>(workspace_.dataset.score->examples.size()),
          .removed = removed,
          .on_batch = [this](size_t) { workspace_.advance(Work::score_batch, 1); },
          .on_mask = [this](int64_t) { workspace_.advance(Work::score_mask, 1); },
          .memory = workspace_.mask_memory(),
          .unit = unit};
}

Importance Host::score_again(Model& model, const Rescoring& how) {
  const ScoreKey key{run_.seed, how.method, how.draw, how.sweep, how.step};
  const auto batches = static_cast<double>(workspace_.score_batches.size());
  const ScoreMethod& method = workspace_.method(how.method);
  if (auto stored = recorded_importance(workspace_.journal.record(), key, run_.blocks)) {
    workspace_.progress.skip(Work::score_batch, batches);
    workspace_.progress.skip(Work::score_mask, static_cast<double>(method.masks(run_.blocks)));
    return *stored;
  }
  check_stop();
  ScoreInput input = score_input(model, how.removed, method.unit());
  input.seed = stream_seed(static_cast<uint64_t>(run_.seed), fmt::format("rescore/{}/{}", how.sweep, how.step));
  const Importance scores = importance({{&method, how.method, how.draw}}, input).front();
  if (!method.needs().data) workspace_.progress.skip(Work::score_batch, batches);  // nothing was looked at
  workspace_.progress.skip(Work::score_mask, static_cast<double>(method.masks(run_.blocks) - scores.masks));
  passes_.forward += scores.forward;
  passes_.backward += scores.backward;
  record_importance(workspace_, key, scores, run_.blocks, how.removed);
  workspace_.status.heartbeat();
  return scores;
}

int64_t Host::steps(int64_t wanted) const { return workspace_.options.smoke ? std::min(wanted, kSmokeSteps) : wanted; }

uint64_t Host::stream(const std::string& name) const {
  return stream_seed(static_cast<uint64_t>(run_.seed), "sweep/" + name);
}

void Host::warn(const std::string& code, const std::string& message) {
  log_warn("[prune] seed {}: {}", run_.seed, message);
  workspace_.journal.warn({code, fmt::format("seed {}: {}", run_.seed, message)});
}

void Host::record(LearnedHeads found) {
  for (AnalysisBlock& block : found.blocks) {
    block.seed = run_.seed;
    workspace_.journal.analysis(block);
  }
  found.done.seed = run_.seed;
  workspace_.journal.analysis_done(found.done);
}

/// The training of sweep `name`, of so many steps, with what is the same for all of them.
TrainRequest Host::sweep_training(Model& model, const std::string& name, int64_t wanted) {
  TrainOptions options = workspace_.experiment.train.value_or(TrainOptions());
  options.max_steps = steps(wanted);
  options.early_stopping_patience = 0;
  options.load_best_model_at_end = false;
  return {.model = model,
          .task = *workspace_.task,
          .dataset = workspace_.dataset,
          .options = options,
          .folder = workspace_.folder / train_folder(run_.seed) / kSweepCheckpoints / name,
          .config_yaml = workspace_.config_yaml,
          .evaluate = false,
          .sink = [this, name](const TrainPoint& row) { workspace_.log_training(run_.seed, name, row); },
          .on_progress =
              [this](const TrainProgress&) {
                workspace_.advance(Work::train_step, 1);
                workspace_.status.heartbeat();
              }};
}

std::pair<int64_t, int64_t> Host::train_in_sweep(const TrainRequest& request, int64_t wanted) {
  const TrainResult trained = train(request);
  workspace_.progress.skip(Work::train_step, static_cast<double>(wanted - trained.steps_here));
  passes_.forward += trained.forward;
  passes_.backward += trained.backward;
  return {trained.forward, trained.backward};
}

std::pair<int64_t, int64_t> Host::learn_gates(Model& model, const GateLearning& how) {
  TrainRequest request = sweep_training(model, how.name, how.steps);
  request.gates = how.gates;
  request.seed = stream("gates/" + how.name);
  return train_in_sweep(request, how.steps);
}

std::pair<int64_t, int64_t> Host::fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) {
  TrainRequest request = sweep_training(model, how.name, how.steps);
  request.removed = removed;
  request.seed = stream_seed(static_cast<uint64_t>(run_.seed), "fine_tune/" + how.name);
  request.options.save_steps = how.steps + 1;  // only the state at the end is kept
  if (!how.goes_on_from.empty()) {
    request.optimizer_from = workspace_.folder / train_folder(run_.seed) / kSweepCheckpoints / how.goes_on_from;
    request.options.lr_scheduler_type = LrScheduler::constant;
    request.options.warmup_steps = 0;
    request.options.warmup_ratio = 0;
  }
  return train_in_sweep(request, how.steps);
}

std::shared_ptr<Model> Host::converted(int64_t groups, GroupInit init) {
  const std::string name = fmt::format("convert/groups_{}", groups);
  return in_groups(run_.model(),
                   {.groups = groups, .init = init, .seed = stream_seed(static_cast<uint64_t>(run_.seed), name)});
}

std::optional<Point> Host::recorded(const PointSpec& spec) const {
  if (!done(spec)) return std::nullopt;
  const auto& points = workspace_.journal.record().points;
  const auto at = points.find(point_id(workspace_.experiment_id, spec));
  return at == points.end() ? std::nullopt : std::optional<Point>(at->second);
}

SelectValues Host::select(const HeadSet& gone, const std::vector<HeadSet>& masks) {
  check_stop();
  SelectValues selected;
  std::shared_ptr<Model> without;  // only of heads that are left passes can be shared
  std::optional<MaskEvaluator> of_without;
  if (!gone.empty()) {
    without = run_.model().copy();
    without->remove_heads(gone);
    of_without.emplace(*without, *workspace_.task, workspace_.select_batches, workspace_.mask_memory());
  }
  MaskEvaluator& evaluator = of_without ? *of_without : *run_.select_masks;
  const double sign = workspace_.task->chosen_by().higher_is_better ? 1 : -1;
  for (const HeadSet& removed : masks) {
    const Outcomes outcomes = evaluator.evaluate(removed);
    const double headline = sign * workspace_.task->choice_value(outcomes), loss = loss_value(outcomes);
    // NaN is less than nothing, so a mask that breaks the model would win over all that follow.
    selected.values.push_back({std::isnan(headline) ? -INFINITY : headline, std::isnan(loss) ? INFINITY : loss});
  }
  selected.forward = static_cast<int64_t>(workspace_.select_batches.size() * masks.size());
  passes_.forward += selected.forward;
  workspace_.advance(Work::select_mask, static_cast<double>(masks.size()));
  workspace_.status.heartbeat();
  return selected;
}

}  // namespace headprune
