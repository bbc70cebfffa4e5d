#include "run/constant_predictions.h"

#include "core/text.h"
#include "task/constant.h"

namespace headprune {

namespace {

std::vector<std::string> undefined_metrics(const Task& task) {
  std::vector<std::string> names;
  for (const MetricInfo& metric : task.metrics())
    if (needs_different_predictions(metric.name)) names.push_back(metric.name);
  return names;
}

std::string named(const Dataset& dataset, const std::string& prediction) {
  if (dataset.kind != DataKind::labelled) return prediction;
  return fmt::format("label '{}'", dataset.labels.at(static_cast<size_t>(std::stoll(prediction))));
}

}  // namespace

void warn_of_constant_predictions(Workspace& workspace, const PointSpec& spec, const Outcomes& outcomes) {
  const std::optional<std::string> prediction = constant_prediction(outcomes);
  if (!prediction) return;
  const std::vector<std::string> undefined = undefined_metrics(*workspace.task);
  const std::string meaning = undefined.empty() ? ""
                                                : fmt::format("; {} {} undefined there", join(undefined, ", "),
                                                              undefined.size() == 1 ? "is" : "are");
  if (spec.rule == "none") {
    const std::string step = spec.at_step ? fmt::format(" as it was after step {}", *spec.at_step) : "";
    workspace.journal.warn(
        {"constant_predictions",
         fmt::format("seed {}: the unpruned model{} predicts {} for every one of the {} examples of the report split{}",
                     spec.seed, step, named(workspace.dataset, *prediction), outcomes.size(), meaning)});
  } else if (!undefined.empty()) {
    workspace.journal.warn(
        {"constant_predictions",
         fmt::format("{} {}: at some of its points the model predicts the same for every example of the report "
                     "split{}, and what stands for {} (0, or what guessing gives) says no more than that",
                     spec.table.empty() ? "sweep" : "table", spec.table.empty() ? spec.sweep : spec.table, meaning,
                     undefined.size() == 1 ? "it" : "them")});
  }
}

}  // namespace headprune
