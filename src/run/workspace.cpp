#include "run/workspace.h"

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

const Outcomes& SeedRun::base_outcomes() {
  if (!base) base = evaluate_masks(*model, *workspace.task, workspace.report_batches, {HeadSet()}).front();
  return *base;
}

}  // namespace headprune
