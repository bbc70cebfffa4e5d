// What surrounds the process: its standard descriptors, its working directory, and what the system refuses it.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <system_error>

#include "core/error.h"

namespace headprune {

/// Opens descriptors 0 to 2 on the null device where they are closed: the next file would get such a number, and what
/// is meant for the terminal would go into it. First of all in main().
void open_standard_descriptors();
/// Throws Error(usage) where the working directory was deleted.
void require_working_directory();
/// Throws Error(io) where something that was written to stdout did not get there.
void require_output_written();

/// The end of a sentence about a refusal that a higher limit would undo; empty for other reasons.
std::string limit_advice(const std::error_code& reason);

/// The sentence for what the standard library throws of the file system (a closed folder, a loop of links, a name that
/// is too long) or of threads; nothing for other exceptions.
std::optional<Error> system_problem(const std::exception& error);

}  // namespace headprune
