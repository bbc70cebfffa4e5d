// Errors and exit codes. Two kinds of exception leave a function of this program on purpose: Error, one sentence that
// tells the user what, where and what to do; and config's ConfigError, which carries many of them.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace headprune {

/// Process exit codes (docs/formats.md section 2). Codes 1 and 2 never mean a regression.
enum class ExitCode {
  ok = 0,
  unexpected = 1,
  usage = 2,
  points_failed = 3,
  run_failed = 4,
  regression = 10,
  baseline_missing = 11,
  incomparable = 12,
  incomplete = 13,
  io = 74,
  interrupted = 75,
  sigint = 130,
  sigterm = 143,
};

/// A problem that the user can fix.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Throws Error with a formatted sentence: fail(ExitCode::io, "cannot write {}: {}", path, reason).
template <class... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace headprune
