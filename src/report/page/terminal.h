// What a run prints at its end, for people.
#pragma once

#include <string>

#include "record/journal.h"

namespace headprune {

struct TerminalOptions {
  size_t width = 80;  // columns; at least 60
  bool colour = false;
  std::string folder;  // where the results are
};

/// The baseline; each sweep as a table and a plot; sensitivity tables; surgery and timing; how long each stage took;
/// warnings; where the results are. Works for a record of an unfinished run, and says so.
std::string terminal_summary(const Record& record, const TerminalOptions& options);

/// The sensitivity tables alone; empty without any.
std::string sensitivity_text(const Record& record, const TerminalOptions& options);
/// Each sweep alone; empty without any.
std::string sweeps_text(const Record& record, const TerminalOptions& options);

}  // namespace headprune
