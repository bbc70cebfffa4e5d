// analysis/LABEL.safetensors: what an analysis says of every two heads (docs/formats.md section 7).
#pragma once

#include <string>
#include <vector>

#include "record/journal.h"

namespace headprune {

/// Labels of the analyses that have a matrix.
std::vector<std::string> matrix_labels(const Record& record);
/// F64 tensors seed<s>/<name> of shape [heads, heads], NaN where two cannot be compared; the metadata
/// `headprune.heads` names the rows and columns, separated by spaces.
std::string matrices_safetensors(const Record& record, const std::string& analysis);

}  // namespace headprune
