// What main() calls. There are two programs: `headprune` reads stored runs by itself, in a few hundredths of a second,
// and hands everything else over to `headprune-torch` beside it, which takes a third of a second to load LibTorch.
#pragma once

#include "core/error.h"

namespace headprune {

/// Parses the command line and does what it says. Throws Error and ConfigError.
ExitCode run_command(int argc, char** argv);

}  // namespace headprune
