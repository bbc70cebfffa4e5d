#include "run/expected_work.h"

#include <algorithm>

#include "run/plan.h"
#include "run/rules.h"

namespace headprune {

namespace {

/// A backward pass costs about two forward ones.
constexpr double kTrainingPasses = 3;
/// Writing a text costs about as many passes over it; how long the texts get is not known before.
constexpr double kWritingPasses = 8;

double tokens_in(const std::vector<Batch>& batches) {
  double tokens = 0;
  for (const Batch& batch : batches) {
    tokens += static_cast<double>(batch.tokens.numel());
    if (batch.decoder_tokens.defined()) tokens += static_cast<double>(batch.decoder_tokens.numel());
  }
  return tokens;
}

/// Tokens through the model in one optimizer step.
double tokens_of_step(const Workspace& workspace) {
  const TrainOptions options = workspace.experiment.train.value_or(TrainOptions());
  double all = 0;
  for (const Example& example : workspace.dataset.train->examples)
    all += static_cast<double>(example.tokens.size() + example.decoder_tokens.size());
  const double mean = all / static_cast<double>(std::max<size_t>(1, workspace.dataset.train->examples.size()));
  const BatchPlan plan = batch_plan(options);
  const double batch = plan.examples > 0 ? mean * static_cast<double>(plan.examples) : static_cast<double>(plan.tokens);
  return kTrainingPasses * batch * static_cast<double>(options.gradient_accumulation_steps);
}

struct Sizes {
  double step = 0, score_batch = 0, score = 0, analysed_batch = 0, select = 0, report = 0;  // tokens
};

class Expected {
 public:
  Expected(Workspace& workspace, const Blocks& blocks) : workspace_(workspace), blocks_(blocks) {
    sizes_.step = tokens_of_step(workspace);
    sizes_.score_batch = kTrainingPasses * tokens_in(workspace.score_batches) /
                         static_cast<double>(std::max<size_t>(1, workspace.score_batches.size()));
    sizes_.score = tokens_in(workspace.score_batches);
    sizes_.analysed_batch = tokens_in(workspace.analysis_batches) /
                            static_cast<double>(std::max<size_t>(1, workspace.analysis_batches.size()));
    sizes_.select = tokens_in(workspace.select_batches);
    sizes_.report = tokens_in(workspace.report_batches);
    if (workspace.dataset.kind == DataKind::translation) sizes_.report *= kWritingPasses;
  }

  void add_seed(int64_t seed) {
    const Experiment& experiment = workspace_.experiment;
    const Record& record = workspace_.journal.record();
    if (until(Stage::model) && experiment.train && !record.has_model(seed))
      add(Work::train_step,
          static_cast<double>(workspace_.training_step(training_steps(experiment, workspace_.dataset, seed))),
          sizes_.step);
    if (until(Stage::evaluate)) add(Work::point, 1, sizes_.report);  // computed anew by each attempt
    if (until(Stage::score) && !scored(seed)) {
      const std::vector<MethodDraws> methods = method_draws(experiment.score, blocks_);
      if (std::any_of(methods.begin(), methods.end(), [](const MethodDraws& one) { return one.needs_data; }))
        add_scoring(1);
      for (const MethodDraws& method : methods) add(Work::score_mask, static_cast<double>(method.masks), sizes_.score);
    }
    if (until(Stage::analyse) && !analysed(seed))
      add(Work::analysed_batch, static_cast<double>(workspace_.analysis_batches.size()), sizes_.analysed_batch);
    if (until(Stage::prune))
      for (const SeedRule& sweep : sweep_rules(experiment, {blocks_, seed})) add_plan(sweep.plan);
    if (until(Stage::sensitivity))
      for (const SeedRule& table : table_rules(experiment, {blocks_, seed})) add_plan(table.plan);
    if (until(Stage::surgery)) add_surgery();
  }

 private:
  bool until(Stage stage) const { return stage <= workspace_.options.until.value_or(Stage::results); }

  void add(Work kind, double pieces, double tokens) { workspace_.progress.expect(kind, pieces, tokens); }

  void add_scoring(int64_t times) {
    add(Work::score_batch, static_cast<double>(times) * static_cast<double>(workspace_.score_batches.size()),
        sizes_.score_batch);
  }

  bool scored(int64_t seed) const {
    return std::all_of(workspace_.methods.begin(), workspace_.methods.end(), [&](const NamedMethod& named) {
      return workspace_.journal.record().score({seed, named.label, 0, "", -1}) != nullptr;
    });
  }

  bool analysed(int64_t seed) const {
    return std::all_of(workspace_.analyses.begin(), workspace_.analyses.end(), [&](const NamedAnalysis& named) {
      return workspace_.journal.record().analysed({seed, named.label});
    });
  }

  void add_plan(const RulePlan& plan) {
    for (const Unit& unit : plan.units) {
      double shares = 0;
      bool left = false;
      for (const PlannedPoint& point : unit.points) {
        if (workspace_.journal.record().settled(point_id(workspace_.experiment_id, point.spec))) continue;
        left = true;
        shares += pass_share(point, blocks_);
      }
      if (!left) continue;
      add(Work::point, shares, sizes_.report);
      add_scoring(unit.scorings);
      add(Work::score_mask, static_cast<double>(unit.score_masks), sizes_.score);
      add(Work::select_mask, static_cast<double>(unit.select_masks), sizes_.select);
      add(Work::train_step, static_cast<double>(unit.train_steps), sizes_.step);
    }
  }

  void add_surgery() {
    const SurgerySection& surgery = workspace_.experiment.surgery;
    if (workspace_.experiment.prune.sweeps.empty()) return;
    const auto masks = static_cast<double>(surgery.fractions.size());
    add(Work::point, 2 * masks, sizes_.report);
    const int64_t wanted = surgery.timing.sequence_length;
    const auto length = static_cast<double>(wanted > 0 ? wanted : workspace_.report_length);
    for (const int64_t size : surgery.timing.batch_sizes)
      add(Work::timed_batch, 3 * masks * static_cast<double>(surgery.timing.warmup + surgery.timing.repeats),
          static_cast<double>(size) * length);
  }

  Workspace& workspace_;
  const Blocks& blocks_;
  Sizes sizes_;
};

}  // namespace

void expect_work(Workspace& workspace, const Blocks& blocks) {
  Expected expected(workspace, blocks);
  for (const int64_t seed : workspace.experiment.seeds) expected.add_seed(seed);
}

}  // namespace headprune
