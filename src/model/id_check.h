// Whether data fit the tables of a model, before any pass looks into them.
#pragma once

#include <string>

#include "data/dataset.h"
#include "model/transformer_config.h"

namespace headprune {

/// Throws Error(run_failed) naming the first example, of every split, whose token ids, token types or positions are
/// outside the model's tables. `where` is the model in that sentence: its folder.
void check_ids(const Dataset& dataset, const TransformerConfig& sizes, const std::string& where);

/// Whether the data have token types that the model passes over because it knows one type only.
bool drops_token_types(const Dataset& dataset, const TransformerConfig& sizes);

}  // namespace headprune
