// scores.safetensors: the scores of the intact model as arrays (docs/formats.md section 7).
#pragma once

#include <string>

#include "record/journal.h"

namespace headprune {

/// F64 tensors seed<s>/<method>/<draw>/<kind> of shape [L, H], larger = keep, and BOOL present/<kind> [L, H]; L is one
/// more than the last layer, H one more than the last head id of the kind. Absent heads are 0.0 and not present.
std::string scores_safetensors(const Record& record);

}  // namespace headprune
