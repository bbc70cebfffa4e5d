// The stages of a run, in their order.
#pragma once

#include <string>
#include <vector>

#include "record/point.h"

namespace headprune {

enum class Stage { data, model, evaluate, score, analyse, prune, sensitivity, surgery, results };
const char* to_string(Stage stage);
/// All of them, in order.
const std::vector<std::string>& stage_names();
/// Throws Error(usage) listing the stages.
Stage parse_stage(const std::string& text);

/// The stage that evaluates a point.
Stage stage_of(const PointSpec& spec);

}  // namespace headprune
