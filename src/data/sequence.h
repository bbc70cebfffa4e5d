// One sequence for a model from one or two texts.
#pragma once

#include <optional>

#include "data/dataset.h"
#include "data/tokenizer.h"

namespace headprune {

/// Token ids of one or two texts, without special tokens.
using TextIds = std::vector<std::vector<int64_t>>;

/// Tokens of the whole sequence, special ones included.
int64_t sequence_length(const TextIds& texts, const SequenceForm& form);

/// Cuts the texts at their ends (or, where the form says so, at their beginnings) until the sequence has at most
/// `max_length` tokens: two texts are cut as the `tokenizers` library's "longest_first" does, the longer one down to
/// the other's length and then both alike, of an odd number the longer one (of equal ones the second) keeping the extra
/// token. `max_length` must hold the special tokens.
void cut_texts(TextIds& texts, const SequenceForm& form, int64_t max_length);

/// Joined, with token types where the form has them, and positions of special tokens.
Example assemble(const TextIds& texts, const SequenceForm& form);

}  // namespace headprune
