// What a shell may offer for the override that is being typed.
#pragma once

#include <string>
#include <vector>

#include "config/value.h"

namespace headprune {

/// Every way in which `word` can go on by one step: "tr" -> "train.", "train.max" -> "train.max_steps=",
/// "model.type=g" -> "model.type=gpt2". Of a plug-in the options of all types are offered, since the file that chooses
/// one is not read. `root` must be a fresh struct; it serves as scratch space.
std::vector<std::string> complete_override(SectionView& root, const std::string& word);

}  // namespace headprune
