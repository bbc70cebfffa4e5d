#include "run/facts.h"

#include "core/text.h"
#include "run/plan.h"

namespace headprune {

namespace {

/// "d_model=64,layers=4": scalars, and lists as JSON.
std::string options_line(const Json& options) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : options.items())
    if (value.is_string())
      parts.push_back(key + "=" + value.get<std::string>());
    else if (value.is_primitive() || value.is_array())
      parts.push_back(key + "=" + value.dump());
  return join(parts, ",");
}

/// The options of a model that is trained from them; of a loaded one, what was loaded.
Json model_description(const Experiment& experiment) {
  const Json sizes = experiment.family()->loaded_sizes();
  Json description = experiment.model.options_json();
  if (sizes.is_null()) return description;
  description.erase("dropout");  // the folder's or the option's: among the sizes
  for (const auto& [key, value] : sizes.items()) description[key] = value;
  return description;
}

SplitFact split_fact(const char* role, const Split& split, const Dataset& dataset) {
  SplitFact fact;
  if (const auto note = dataset.part_notes.find(split.name); note != dataset.part_notes.end()) fact.note = note->second;
  fact.role = role;
  fact.name = split.name;
  fact.original = split.original;
  fact.effective = static_cast<int64_t>(split.examples.size());
  fact.sha256 = split.sha256;
  return fact;
}

}  // namespace

RunFacts run_facts(const Experiment& experiment, const Dataset& dataset) {
  RunFacts facts;
  facts.task = dataset.name;
  facts.task_type = experiment.task.name();
  facts.task_config = experiment.task.options_json();
  const std::shared_ptr<const Task> task = prepared_task(experiment, dataset);
  const std::map<std::string, std::string> signatures = task->signatures();
  for (const MetricInfo& metric : task->metrics()) {
    const auto signature = signatures.find(metric.name);
    facts.metrics.push_back({metric, signature == signatures.end() ? "" : signature->second});
  }
  facts.model = experiment.model.name();
  facts.model_args = options_line(model_description(experiment));
  facts.blocks = experiment.family()->blocks();
  facts.seeds = experiment.seeds;
  facts.seeds_differ_in = !experiment.train                              ? SeedsDifferIn::nothing
                          : experiment.family()->load_path().has_value() ? SeedsDifferIn::fine_tuning
                                                                         : SeedsDifferIn::training;
  for (const auto& item : experiment.score.methods)
    facts.methods.push_back({item.label, item.name(), item.make()->draws(), item.make()->note()});
  for (const auto& item : experiment.prune.sweeps) facts.sweeps.push_back(item.label);
  for (const Table table : experiment.sensitivity.tables) facts.tables.emplace_back(enum_name(table));
  facts.batch_size = experiment.score.batch_size;
  facts.device = experiment.runtime.device;
  facts.formats.clear();
  for (const ReportFormat format : experiment.report.formats) facts.formats.emplace_back(enum_name(format));
  facts.bootstrap_iters = experiment.report.bootstrap_iters;
  facts.splits = {split_fact("score", *dataset.score, dataset), split_fact("select", *dataset.select, dataset),
                  split_fact("report", *dataset.report, dataset)};
  if (facts.splits.back().effective < facts.splits.back().original) facts.limit = facts.splits.back().effective;
  facts.shared_splits = dataset.shared_splits();
  facts.summaries = dataset.summaries;
  facts.label_notes = dataset.label_notes;
  return facts;
}

}  // namespace headprune
