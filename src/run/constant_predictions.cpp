#include "run/constant_predictions.h"

#include "core/text.h"
#include "metric/constant.h"

namespace headprune {

namespace {

std::string named(const Dataset& dataset, const std::string& prediction) {
  if (dataset.kind != DataKind::labelled) return prediction;
  return fmt::format("label '{}'", dataset.labels.at(static_cast<size_t>(std::stoll(prediction))));
}

}  // namespace

void warn_of_constant_predictions(Workspace& workspace, const PointSpec& spec, const Outcomes& outcomes) {
  const std::optional<std::string> prediction = constant_prediction(outcomes);
  if (!prediction) return;
  const std::vector<std::string> hollow = workspace.task->hollow_metrics();
  const std::string meaning = hollow.empty()
                                  ? ""
                                  : fmt::format(": {} (0, or what guessing gives) {} nothing there",
                                                join(hollow, " and "), hollow.size() == 1 ? "means" : "mean");
  if (spec.rule == "none") {
    const std::string step = spec.at_step ? fmt::format(" as it was after step {}", *spec.at_step) : "";
    workspace.journal.warn(
        {"constant_predictions",
         fmt::format("seed {}: the unpruned model{} predicts {} for every one of the {} examples of the report split{}",
                     spec.seed, step, named(workspace.dataset, *prediction), outcomes.size(), meaning)});
  } else if (!hollow.empty()) {
    workspace.journal.warn(
        {"constant_predictions",
         fmt::format("{} {}: at some of its points the model predicts the same for every example of "
                     "the report split{}",
                     spec.table.empty() ? "sweep" : "table", spec.table.empty() ? spec.sweep : spec.table, meaning)});
  }
}

}  // namespace headprune
