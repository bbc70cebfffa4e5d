// Patterns that hide nothing in the texts at hand.
#pragma once

#include <string>

#include "model/transformer_config.h"

namespace headprune {

/// One line about the first pattern whose window reaches over every text of up to max_length tokens: no mistake, but it
/// may not be what was meant. "" where there is none.
std::string idle_pattern(const TransformerConfig& config);

}  // namespace headprune
