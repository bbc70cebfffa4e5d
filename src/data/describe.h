// What the splits of a dataset look like, and which of them cannot give a number that means anything.
#pragma once

#include "data/dataset.h"

namespace headprune {

/// Throws Error(run_failed), naming split and value, where the examples of a role leave nothing to measure or learn:
/// all with one label, one number or one translation, all with the same text, a text of one token; in the report split
/// also a single label or number. A seeded sample (data.limit) counts as what it is.
void require_different_examples(const Dataset& dataset);

/// Fills Dataset::summaries, one for each split that some role uses, and warns of what is most likely a mistake: texts
/// that other parts have too, the same text with different labels, mostly unknown tokens.
void describe_splits(Dataset& dataset);

}  // namespace headprune
