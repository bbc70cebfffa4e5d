// A model that says the same of every example, whose correlations mean nothing.
#pragma once

#include <optional>
#include <string>

#include "metric/outcome.h"

namespace headprune {

/// What every example is predicted to be, where there are several and they are all predicted alike: an output's index,
/// a number or a text. Numbers count as alike as are_alike() says. Nothing for what has no prediction of its own
/// (language modelling, non-finite logits).
std::optional<std::string> constant_prediction(const Outcomes& outcomes);

}  // namespace headprune
