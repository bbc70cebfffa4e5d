#include "run/host.h"

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/random.h"
#include "core/stop.h"
#include "model/checkpoint.h"
#include "model/cost.h"
#include "model/hf_layout.h"
#include "model/other_files.h"
#include "record/example_values.h"
#include "record/samples.h"
#include "run/constant_predictions.h"
#include "task/metrics.h"
#include "train/trainer.h"

namespace headprune {

namespace {

/// --smoke evaluates this many points of each sweep and table.
constexpr int64_t kSmokePoints = 2;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string direction_text(const ScoreMethod& method) {
  return method.keep() == Keep::large ? "larger = keep" : "smaller = keep, negated";
}

/// Heads of one block that still take part, as positions among the block's heads.
std::vector<int64_t> surviving(const BlockHeads& block, const HeadSet& removed) {
  std::vector<int64_t> positions;
  for (size_t i = 0; i < block.heads.size(); ++i)
    if (!removed.contains({block.id, block.heads[i]})) positions.push_back(static_cast<int64_t>(i));
  return positions;
}

std::string sample_hash(const Example& example) {
  Sha256 hash;
  for (const int64_t id : example.tokens) hash.update(std::to_string(id) + " ");
  if (!example.decoder_tokens.empty()) hash.update("| ");  // a translation is both of its texts
  for (const int64_t id : example.decoder_tokens) hash.update(std::to_string(id) + " ");
  return hash.hex();
}

std::vector<Sample> samples_of(const Outcomes& outcomes, const Split& split) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Sample sample;
    sample.doc_id = static_cast<int64_t>(i);
    sample.doc_hash = sample_hash(split.examples[i]);
    sample.loss = outcomes[i].loss;
    if (outcomes[i].target >= 0) {
      sample.target = outcomes[i].target;
      sample.pred = outcomes[i].predicted;
      sample.correct = outcomes[i].target == outcomes[i].predicted;
    } else if (outcomes[i].number) {
      sample.target = *outcomes[i].number;
      sample.pred = measurement_json(outcomes[i].predicted_number);
    } else if (!outcomes[i].reference.empty()) {
      sample.target = outcomes[i].reference;
      sample.pred = outcomes[i].text;
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

Host::Host(SeedRun& run, Stage stage, const IntactScores& scores, IntactModel& intact)
    : run_(run), workspace_(run.workspace), stage_(stage), scores_(scores), intact_(intact) {}

bool Host::done(const PointSpec& spec) const {
  return run_.known.ids.count(point_id(workspace_.experiment_id, spec)) > 0;
}

bool Host::enough_for_smoke(const PointSpec& spec) {
  return workspace_.options.smoke && ++smoke_counts_[spec.table + "/" + spec.sweep] > kSmokePoints;
}

void Host::evaluate(Model& model, const PlannedPoint& point) {
  check_stop();
  if (done(point.spec) || enough_for_smoke(point.spec)) return;
  PointResult result = describe(model, point);
  workspace_.journal.point_start(result.point, point.spec);
  const auto start = std::chrono::steady_clock::now();
  if (const auto same = run_.known.same_as(result)) {
    result.same_as = *same;
  } else {
    measure(model, point, result);
    for (const MetricResult& metric : result.metrics)
      if (!std::isfinite(metric.estimate.value))
        return failed(result.point, "nonfinite", fmt::format("{} is not finite under this mask", metric.name));
  }
  if (point.keep_weights) keep_weights(model, point, result);
  result.dur_s = seconds_since(start);
  workspace_.journal.point_done(result);
  run_.known.add(result);
  ++workspace_.points.done;
  workspace_.status.set_points(workspace_.points);
  workspace_.status.heartbeat();
}

void Host::give_up(const PointSpec& spec, const std::string& reason, const std::string& message) {
  if (done(spec)) return;
  const std::string id = point_id(workspace_.experiment_id, spec);
  workspace_.journal.point_start(id, spec);
  failed(id, reason, message);
}

/// The folder holds the pruned model, so that opened by itself it is the model of the point.
void Host::keep_weights(const Model& model, const PlannedPoint& point, PointResult& result) const {
  const auto pruned = model.copy();
  pruned->remove_heads(point.removed);
  result.weights = point_folder(result.point).string();
  result.weights_manifest_sha256 = save_model(workspace_, *pruned, result.mask, workspace_.folder / result.weights);
}

PointResult Host::describe(Model& model, const PlannedPoint& point) const {
  PointResult result;
  result.point = point_id(workspace_.experiment_id, point.spec);
  result.spec = point.spec;
  result.step = point.step;
  result.scope = point.scope;
  result.fraction = point.fraction;
  result.heads_total = point.heads_total;
  result.removed = point.removed;
  result.mask = mask_sha256(run_.blocks, point.removed);
  const ModelCost cost = model_cost(model, point.removed, {workspace_.report_length, workspace_.report_target_length});
  result.params = cost.params;
  result.attention_flops_per_token = cost.attention_flops_per_token;
  result.forward = point.forward;
  result.backward = point.backward;
  result.fine_tuned = point.fine_tuned;
  result.split = "report";
  return result;
}

void Host::measure(Model& model, const PlannedPoint& point, PointResult& result) {
  const bool is_base = point.spec.rule == "none";
  // A copy that a sweep trains has other weights than the intact model, whose passes are kept.
  const auto own_weights = [&] {
    return MaskEvaluator(model, *workspace_.task, workspace_.report_batches, /*memory=*/0)
        .evaluate(point.removed, workspace_.dataset.tokenizer.get());
  };
  const bool intact_weights = &model == intact_.model().get();
  const bool known = intact_weights && point.removed.empty() && intact_.knows_base();
  const Outcomes outcomes = intact_weights ? intact_.evaluate(point.removed) : own_weights();
  // What is known costs nothing; a continued run computes its base once more.
  const int64_t evaluations = (known ? 0 : 1) + (is_base || intact_.knows_base() ? 0 : 1);
  passes_.forward += evaluations * static_cast<int64_t>(workspace_.report_batches.size());
  warn_of_constant_predictions(workspace_, point.spec, outcomes);
  result.metrics = workspace_.task->evaluate({.outcomes = outcomes,
                                              .base = is_base ? nullptr : &intact_.base(),
                                              .bootstrap_iters = workspace_.experiment.report.bootstrap_iters,
                                              .seed = stream_seed(static_cast<uint64_t>(run_.seed), "bootstrap")});
  result.examples_sha256 = write_example_values(workspace_.folder, result.metrics);
  if (workspace_.experiment.output.samples)
    result.samples_sha256 =
        write_samples(workspace_.folder, result.point, samples_of(outcomes, *workspace_.dataset.report));
}

void Host::failed(const std::string& id, const std::string& reason, const std::string& message) {
  workspace_.journal.point_failed({id, reason, message});
  run_.known.ids.insert(id);
  log_warn("[{}] point {} failed: {}", to_string(stage_), id, message);
  ++workspace_.points.failed;
  workspace_.status.set_points(workspace_.points);
  const RunOptions& options = workspace_.options;
  if (options.fail_fast) fail(ExitCode::run_failed, "stopped at the first failed point (--fail-fast): {}", message);
  if (options.max_failures > 0 && workspace_.points.failed >= options.max_failures)
    fail(ExitCode::run_failed, "stopped after {} failed points (--max-failures): {}", workspace_.points.failed,
         message);
}

Importance Host::intact_scores(const std::string& method, int64_t draw) { return scores_.at({method, draw}); }

Importance Host::score_again(Model& model, const std::string& method, int64_t draw, const HeadSet& removed,
                             const std::string& sweep, int64_t step) {
  const ScoreKey key{run_.seed, method, draw, sweep, step};
  if (workspace_.reuses(stage_))
    if (auto stored = recorded_importance(workspace_.journal.before(), key, run_.blocks)) return *stored;
  check_stop();
  const ScoreInput input{model,
                         *workspace_.task,
                         workspace_.score_batches,
                         static_cast<int64_t>(workspace_.dataset.score->examples.size()),
                         removed,
                         stream_seed(static_cast<uint64_t>(run_.seed), fmt::format("rescore/{}/{}", sweep, step))};
  const Importance scores = importance({{&workspace_.method(method), method, draw}}, input).front();
  passes_.forward += scores.forward;
  passes_.backward += scores.backward;
  record_importance(workspace_, key, scores, run_.blocks, removed);
  workspace_.status.heartbeat();
  return scores;
}

std::pair<int64_t, int64_t> Host::fine_tune(Model& model, const HeadSet& removed, const FineTuning& how) {
  TrainOptions options = *workspace_.experiment.train;
  options.max_steps = workspace_.options.smoke ? std::min(how.steps, kSmokeSteps) : how.steps;
  options.save_steps = how.steps + 1;  // only the state at the end is kept
  options.early_stopping_patience = 0;
  options.load_best_model_at_end = false;
  const fs::path folder = workspace_.folder / train_folder(run_.seed) / kSweepCheckpoints;
  const bool goes_on = !how.goes_on_from.empty();
  if (goes_on) {
    options.lr_scheduler_type = LrScheduler::constant;
    options.warmup_steps = 0;
    options.warmup_ratio = 0;
  }
  const TrainResult trained = train({.model = model,
                                     .task = *workspace_.task,
                                     .dataset = workspace_.dataset,
                                     .options = options,
                                     .removed = removed,
                                     .folder = folder / how.name,
                                     .optimizer_from = goes_on ? folder / how.goes_on_from : fs::path(),
                                     .seed = stream_seed(static_cast<uint64_t>(run_.seed), "fine_tune/" + how.name),
                                     .config_yaml = workspace_.config_yaml,
                                     .evaluate = false,
                                     .sink = [this](const TrainPoint&) { workspace_.status.heartbeat(); }});
  passes_.forward += trained.forward;
  passes_.backward += trained.backward;
  return {trained.forward, trained.backward};
}

SelectValues Host::select(const std::vector<HeadSet>& masks) {
  check_stop();
  SelectValues selected;
  const double sign = workspace_.task->chosen_by().higher_is_better ? 1 : -1;
  for (const HeadSet& removed : masks) {
    const Outcomes outcomes = run_.select_masks->evaluate(removed);
    const double headline = sign * workspace_.task->choice_value(outcomes), loss = loss_value(outcomes);
    // NaN is less than nothing, so a mask that breaks the model would win over all that follow.
    selected.values.push_back({std::isnan(headline) ? -INFINITY : headline, std::isnan(loss) ? INFINITY : loss});
  }
  selected.forward = static_cast<int64_t>(workspace_.select_batches.size() * masks.size());
  passes_.forward += selected.forward;
  workspace_.status.heartbeat();
  return selected;
}

std::string save_model(const Workspace& workspace, const Model& model, const std::string& mask,
                       const fs::path& folder) {
  make_folders(folder.parent_path());
  FolderWriter writer(folder);
  write_model(writer, model, workspace.dataset.tokenizer.get(),
              {{"headprune.experiment_id", workspace.experiment_id}, {"headprune.mask_sha256", mask}});
  // What else the folder of a loaded model holds goes with it; its large files are not the model's.
  constexpr uint64_t kLargest = 1024 * 1024;
  if (const auto* loaded = dynamic_cast<const TransformerModel*>(&model);
      loaded && loaded->origin() && fs::is_directory(loaded->origin()->folder))
    copy_other_files(loaded->origin()->folder, writer, kLargest);
  return writer.commit();
}

std::optional<Importance> recorded_importance(const Record& record, const ScoreKey& key, const Blocks& blocks) {
  const auto at = record.scores.find(key);
  if (at == record.scores.end() || !at->second.done) return std::nullopt;
  const RecordedScore& stored = at->second;
  Importance scores;
  bool has_stderr = false;
  scores.ties = stored.done->ties;
  scores.examples = stored.done->examples;
  scores.forward = stored.done->forward;
  scores.backward = stored.done->backward;
  scores.dur_s = stored.done->dur_s;
  for (const BlockHeads& block : blocks) {
    const auto size = block.count();
    torch::Tensor values = torch::zeros({size}, torch::kFloat64);  // [H]
    torch::Tensor stderrs;                                         // [H]
    const auto row = stored.blocks.find(block.id);
    if (row == stored.blocks.end()) return std::nullopt;
    has_stderr = has_stderr || !row->second.stderrs.empty();
    if (!row->second.stderrs.empty()) stderrs = torch::zeros({size}, torch::kFloat64);
    scores.n.push_back(row->second.n);
    for (size_t i = 0; i < row->second.heads.size(); ++i) {
      const auto head = std::find(block.heads.begin(), block.heads.end(), row->second.heads[i]);
      if (head == block.heads.end()) return std::nullopt;
      const int64_t position = head - block.heads.begin();
      values[position] = row->second.scores[i];
      if (!row->second.stderrs.empty()) stderrs[position] = row->second.stderrs[i].value_or(0.0);
    }
    scores.values.push_back(values);
    scores.stderr_.push_back(stderrs);
  }
  if (!has_stderr) scores.stderr_.clear();
  return scores;
}

void record_importance(Workspace& workspace, const ScoreKey& key, const Importance& importance, const Blocks& blocks,
                       const HeadSet& removed) {
  ScoreBlock row;
  ScoreDone done;
  row.seed = done.seed = key.seed;
  row.method = done.method = key.method;
  row.draw = done.draw = key.draw;
  row.sweep = done.sweep = key.sweep;
  if (!key.sweep.empty()) row.step = done.step = key.step;
  for (size_t b = 0; b < blocks.size(); ++b) {
    row.block = blocks[b].id;
    row.n = importance.n.empty() ? 0 : importance.n[b];
    row.heads.clear();
    row.scores.clear();
    row.stderrs.clear();
    for (std::vector<double>& half : row.halves) half.clear();
    for (const int64_t position : surviving(blocks[b], removed)) {
      row.heads.push_back(blocks[b].heads[position]);
      row.scores.push_back(importance.values[b][position].item<double>());
      if (!importance.stderr_.empty() && importance.stderr_[b].defined())
        row.stderrs.emplace_back(importance.stderr_[b][position].item<double>());
      for (size_t half = 0; half < 2; ++half)
        if (!importance.halves[half].empty() && key.sweep.empty())
          row.halves[half].push_back(importance.halves[half][b][position].item<double>());
    }
    workspace.journal.score(row);
  }
  std::string where;
  if (workspace.experiment.seeds.size() > 1) where += fmt::format("seed {}: ", key.seed);
  if (!key.sweep.empty()) where += fmt::format("sweep {}, step {}: ", key.sweep, key.step);
  for (const std::string& warning : importance.warnings) workspace.journal.warn({"tied_scores", where + warning});
  done.direction = direction_text(workspace.method(key.method));
  done.ties = importance.ties;
  done.examples = importance.examples;
  done.forward = importance.forward;
  done.backward = importance.backward;
  done.dur_s = importance.dur_s;
  workspace.journal.score_done(done);
}

}  // namespace headprune
