#include "record/stage.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace headprune {

const char* to_string(Stage stage) { return stage_names()[static_cast<size_t>(stage)].c_str(); }

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = {"data",  "model",       "evaluate", "score",  "analyse",
                                                 "prune", "sensitivity", "surgery",  "results"};
  return names;
}

Stage parse_stage(const std::string& text) {
  const auto found = std::find(stage_names().begin(), stage_names().end(), text);
  if (found == stage_names().end())
    fail(ExitCode::usage, "'{}' is no stage; the stages are {}", text, join(stage_names(), " "));
  return static_cast<Stage>(found - stage_names().begin());
}

Stage stage_of(const PointSpec& spec) {
  if (!spec.table.empty()) return Stage::sensitivity;
  return spec.sweep.empty() ? Stage::evaluate : Stage::prune;
}

}  // namespace headprune
