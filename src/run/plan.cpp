#include "run/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/files.h"
#include "core/random.h"
#include "core/text.h"
#include "data/translation_tokenizer.h"
#include "model/folder.h"
#include "run/rules.h"
#include "train/train_batches.h"
#include "train/trainer.h"

namespace headprune {

namespace {

int64_t batch_count(int64_t examples, int64_t batch_size) { return (examples + batch_size - 1) / batch_size; }

int64_t size_of(const std::shared_ptr<const Split>& split) { return static_cast<int64_t>(split->examples.size()); }

/// Points that random orders have: what the control costs.
int64_t random_points(const Experiment& experiment, const RulePlan& plan) {
  std::set<std::string> random;
  for (const auto& item : experiment.score.methods)
    if (item.name() == "random") random.insert(item.label);
  int64_t count = 0;
  for (const Unit& unit : plan.units)
    for (const PlannedPoint& point : unit.points) count += random.contains(point.spec.method) ? 1 : 0;
  return count;
}

/// `steps`: those that sweeps are about, with a sweep's label. Seeds differ in how their batches fall.
void check_steps(const std::map<int64_t, std::string>& steps, const Experiment& experiment, const Dataset& dataset) {
  if (steps.empty()) return;
  const auto& [last, label] = *steps.rbegin();
  for (const int64_t seed : experiment.seeds) {
    const int64_t training = training_steps(experiment, dataset, seed);
    if (last > training)
      fail(ExitCode::usage, "sweep {} is about the model at_step {}, but training has {} steps", label, last, training);
  }
}

}  // namespace

int64_t training_steps(const Experiment& experiment, const Dataset& dataset, int64_t seed) {
  if (!experiment.train) return 0;
  return planned_steps(dataset.train->examples, *experiment.train, stream_seed(static_cast<uint64_t>(seed), "train"));
}

ModelInput model_input(const Experiment& experiment, const Dataset& dataset) {
  ModelInput input;
  input.trains = experiment.train.has_value();
  input.vocabulary_size = dataset.tokenizer->size();
  if (const auto* both = dynamic_cast<const TranslationTokenizer*>(dataset.tokenizer.get()); both && !both->joint())
    input.target_vocabulary_size = both->target_size();
  input.outputs = dataset.kind == DataKind::numbered ? 1 : static_cast<int64_t>(dataset.labels.size());
  input.labels = dataset.labels;
  for (const auto& split : {dataset.train, dataset.score, dataset.select, dataset.report})
    for (const Example& example : split->examples) {
      input.max_length = std::max({input.max_length, std::ssize(example.tokens), std::ssize(example.decoder_tokens)});
      for (const Choice& choice : example.choices)
        input.max_length = std::max<int64_t>(input.max_length, std::ssize(choice.tokens));
    }
  return input;
}

const Split& analysed_split(const Experiment& experiment, const Dataset& dataset) {
  switch (experiment.analyses.split) {
    case SplitRole::score:
      return *dataset.score;
    case SplitRole::select:
      return *dataset.select;
    case SplitRole::report:
      return *dataset.report;
  }
  return *dataset.score;
}

std::vector<InputFile> experiment_inputs(const Experiment& experiment) {
  std::vector<InputFile> inputs = experiment.data.make()->inputs();
  if (const auto folder = experiment.family()->load_path())
    for (InputFile& input : model_inputs(*folder)) inputs.push_back(std::move(input));
  for (const auto& item : experiment.analyses.methods)
    for (InputFile& input : item.make()->inputs()) inputs.push_back(std::move(input));
  return inputs;
}

std::shared_ptr<const Task> prepared_task(const Experiment& experiment, const Dataset& dataset) {
  std::shared_ptr<Task> task = experiment.task.make();
  task->prepare(dataset);
  return task;
}

Dataset load_dataset(const Experiment& experiment) {
  LoadInput input;
  input.seed = static_cast<uint64_t>(experiment.seeds.front());
  input.kind = experiment.task.make()->data_kind();
  input.trains = experiment.train.has_value();
  const auto family = experiment.family();
  if (const auto folder = family->load_path()) input.tokenizer = read_tokenizer(*folder);
  if (input.kind == DataKind::labelled) input.model = family->labels();
  return experiment.data.make()->load(input);
}

std::vector<std::string> data_lines(const Dataset& dataset) {
  std::vector<std::string> lines;
  for (const SplitSummary& summary : dataset.summaries) lines.push_back(summary.text());
  lines.insert(lines.end(), dataset.label_notes.begin(), dataset.label_notes.end());
  return lines;
}

ExperimentPlan plan_experiment(const Experiment& experiment, const Dataset& dataset) {
  ExperimentPlan plan;
  const auto family = experiment.family();
  const Blocks blocks = family->blocks();
  const int64_t score_batches = batch_count(size_of(dataset.score), experiment.score.batch_size);
  const int64_t select_batches = batch_count(size_of(dataset.select), experiment.score.batch_size);
  const int64_t report_batches = batch_count(size_of(dataset.report), experiment.score.batch_size);
  plan.heads = static_cast<int64_t>(all_heads(blocks).size());
  plan.params = family->parameter_estimate(model_input(experiment, dataset));
  plan.data = data_lines(dataset);

  plan.points = 1;  // the base
  int64_t kept_models = 0;
  std::map<int64_t, std::string> kept_steps;  // with the label of a sweep about it
  int64_t scorings = 0, score_masks = 0;
  for (const MethodDraws& method : method_draws(experiment.score, blocks)) {
    if (method.needs_data) scorings = 1;  // which all share
    score_masks += method.masks;
  }
  plan.train_steps = training_steps(experiment, dataset, experiment.seeds.front());
  int64_t select_masks = 0;
  std::vector<SeedRule> rules = sweep_rules(experiment, {blocks, experiment.seeds.front()});
  for (SeedRule& table : table_rules(experiment, {blocks, experiment.seeds.front()})) rules.push_back(std::move(table));
  for (const SeedRule& rule : rules) {
    if (const auto step = rule.rule->at_step()) kept_steps.emplace(*step, rule.label);
    plan.points += rule.plan.points();
    plan.random_points += random_points(experiment, rule.plan);
    scorings += rule.plan.scorings();
    score_masks += rule.plan.score_masks();
    select_masks += rule.plan.select_masks();
    plan.train_steps += rule.plan.train_steps();
    kept_models += rule.plan.kept_models();
    for (const std::string& message : rule.plan.messages) plan.messages.push_back(rule.label + ": " + message);
  }
  check_steps(kept_steps, experiment, dataset);
  if (plan.train_steps > 0 && dataset.train->examples.empty())
    fail(ExitCode::usage, "the train split of {} has no examples, and {} steps are to be trained on it", dataset.name,
         plan.train_steps);
  plan.points += std::ssize(kept_steps);  // each has a base of its own
  kept_models += std::ssize(kept_steps);

  const auto seeds = static_cast<int64_t>(experiment.seeds.size());
  plan.forward = seeds * ((scorings + score_masks) * score_batches + plan.points * report_batches +
                          select_masks * select_batches + plan.train_steps);
  if (!experiment.analyses.methods.empty())
    plan.forward += seeds * std::ssize(plan_batches(analysed_split(experiment, dataset).examples, kAnalysisPlan));
  plan.backward = seeds * (scorings * score_batches + plan.train_steps);
  if (experiment.train)
    plan.disk_bytes = static_cast<uint64_t>(seeds) * (checkpoint_bytes(plan.params, *experiment.train) +
                                                      static_cast<uint64_t>(plan.params * (1 + kept_models)) * 4);
  constexpr uint64_t kBytesPerPoint = 4096, kBytesPerSample = 256;
  plan.points *= seeds;
  plan.random_points *= seeds;
  plan.train_steps *= seeds;
  const std::shared_ptr<const Task> task = prepared_task(experiment, dataset);
  for (const auto& [metric, reason] : task->unavailable())
    plan.messages.push_back(fmt::format("task.metrics: {} is left out: {}", metric, reason));
  const auto metrics = static_cast<uint64_t>(task->metrics().size());
  const uint64_t values_per_point = static_cast<uint64_t>(size_of(dataset.report)) * metrics * sizeof(float);
  plan.disk_bytes += static_cast<uint64_t>(plan.points) * (kBytesPerPoint + values_per_point);
  if (experiment.output.samples)
    plan.disk_bytes += static_cast<uint64_t>(plan.points * size_of(dataset.report)) * kBytesPerSample;
  return plan;
}

std::string ExperimentPlan::text() const {
  std::string text = fmt::format(
      "{} heads, {} parameters\n{} points to evaluate, all seeds together; {} of them ({:.0f} %) are random "
      "orders\nabout {} forward and {} backward passes "
      "over "
      "one batch, {} training steps among them\nabout {} of disk\n",
      heads, params, points, random_points,
      points > 0 ? 100.0 * static_cast<double>(random_points) / static_cast<double>(points) : 0.0, forward, backward,
      train_steps, bytes_text(disk_bytes));
  for (const std::string& message : messages) text += message + "\n";
  for (const std::string& line : data) text += line + "\n";
  return text;
}

Json ExperimentPlan::to_json() const {
  return {{"heads", heads},
          {"params", params},
          {"points", points},
          {"random_points", random_points},
          {"train_steps", train_steps},
          {"forward", forward},
          {"backward", backward},
          {"disk_bytes", disk_bytes},
          {"messages", messages},
          {"data", data}};
}

void check_disk(const ExperimentPlan& plan, const std::filesystem::path& folder) {
  const uint64_t free = bytes_free(folder);
  if (free < plan.disk_bytes)
    fail(ExitCode::io, "{} has {} free and the run needs about {}: free some space, or choose another output.dir",
         folder.string(), bytes_text(free), bytes_text(plan.disk_bytes));
}

}  // namespace headprune
