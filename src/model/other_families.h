// Families of checkpoints that are close to supported ones and are not.
#pragma once

#include <string>

namespace headprune {

/// What makes a model_type of transformers another model than the supported families, as the end of a sentence ("it is
/// close to llama, but ..."); empty for one of which nothing is known here.
std::string what_differs(const std::string& model_type);

}  // namespace headprune
