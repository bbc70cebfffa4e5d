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

/// "over 1821 examples", "over 3 seeds", "over 5 draws": what the interval of a metric is taken over.
std::string over_text(const std::string& over, int64_t examples, size_t seeds, int64_t draws);

}  // namespace headprune
