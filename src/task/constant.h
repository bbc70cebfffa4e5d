// A model that says the same of every example, whose correlations mean nothing.
#pragma once

#include <optional>
#include <string>

#include "task/task.h"

namespace headprune {

/// What every example is predicted to be, where there are several and they are all predicted alike: an output's index,
/// a number or a text. Numbers count as alike as in pearson_metric(). Nothing for what has no prediction of its own
/// (language modelling, non-finite logits).
std::optional<std::string> constant_prediction(const Outcomes& outcomes);

/// Whether a metric means nothing where all predictions are alike: what stands for it then is 0, or what
/// guessing gives.
bool needs_different_predictions(const std::string& metric);

}  // namespace headprune
