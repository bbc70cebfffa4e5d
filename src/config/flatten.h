// A configuration and what it extends as one text.
#pragma once

#include <string>
#include <vector>

#include "config/layers.h"

namespace headprune {

/// YAML that sets what the layers set together and extends nothing, with the comments of all of them. Variables and
/// numbers stay as they were written. `order`: the keys of the top level as they shall follow one another.
std::string flat_yaml(const ConfigLayers& layers, const std::vector<std::string>& order);

}  // namespace headprune
