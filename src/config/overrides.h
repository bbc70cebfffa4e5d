// key.sub=value on the command line (grammar: docs/formats.md section 3). The schema gives the type, so name=010 stays
// text.
#pragma once

#include "config/document.h"
#include "config/environment.h"

namespace headprune {

/// One override as a chain of steps from the root to its value; nothing where it is malformed (see `problems`).
/// `source` has the name "override:N".
std::optional<ConfigNode> parse_override(const std::string& argument, const std::shared_ptr<const Source>& source,
                                         Environment& environment, Problems& problems);

}  // namespace headprune
