// Asking the program to stop. The first signal sets a request that long loops look at between batches; the second
// ends the process at once. Nothing is half-renamed either way (docs/formats.md section 2).
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace headprune {

/// Thrown by check_stop(); main turns it into the signal's exit code after a clean stop.
class Interrupted : public Error {
 public:
  Interrupted(ExitCode code, int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// "INT" for SIGINT and so on; "?" for a signal that runtime.signals does not take.
const char* signal_name(int number);

/// Installs handlers for these names (INT TERM USR1 USR2 HUP) and ignores SIGPIPE and SIGXFSZ.
void install_signal_handlers(const std::vector<std::string>& names);
bool stop_requested();
/// Throws Interrupted when a signal has come: INT 130, TERM 143 (75 under SLURM_JOB_ID), USR1, USR2, HUP 75.
void check_stop();

}  // namespace headprune
