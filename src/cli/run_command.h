// What main() calls.
#pragma once

#include "core/error.h"

namespace headprune {

/// Parses the command line and does what it says. Throws Error and ConfigError.
ExitCode run_command(int argc, char** argv);

}  // namespace headprune
