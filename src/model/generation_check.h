// Whether two models go on with a text in the same way.
#pragma once

#include <string>

#include "model/transformer_model.h"

namespace headprune {

/// What the decoder of a translation begins and ends with.
struct GenerationEnds {
  int64_t start = 0, end = -1;
};

struct GenerationPair {
  TransformerModel& source;
  const PerBlock& gates;  // of the source
  TransformerModel& written;
  double tolerance = 0;  // of logits, relative to the largest where that exceeds 1
};

/// Lets the source write each example of a batch to its end, token by token and always the likeliest, and asks the
/// written model at every step: "" where it would have written the same (a token within the tolerance of its best
/// counts), else a sentence part that says where it would not. "" for a model that only classifies. `texts` gets the
/// ids that were written.
std::string generation_problem(const GenerationPair& pair, const std::vector<Example>& examples,
                               const GenerationEnds& ends, std::vector<std::vector<int64_t>>& texts);

}  // namespace headprune
