// Log lines for people: stderr, and log.txt of the run once it has a folder. Lines begin with a tag: [train] step 200.
// Nothing parses them.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

namespace headprune {

enum class LogLevel { debug, info, warn, error, off };

/// Level of what goes to stderr; the file keeps info and above.
void set_log_level(LogLevel level);
LogLevel parse_log_level(const std::string& text);  // throws Error(usage)
/// From now on lines are appended to this file too; an empty path stops that.
void log_to_file(const std::filesystem::path& path);
void log_line(LogLevel level, const std::string& text);

template <class... Args>
void log_info(fmt::format_string<Args...> text, Args&&... args) {
  log_line(LogLevel::info, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void log_warn(fmt::format_string<Args...> text, Args&&... args) {
  log_line(LogLevel::warn, fmt::format(text, std::forward<Args>(args)...));
}

/// A progress line of at most 1 Hz on a terminal (rewritten in place), a plain line every 30 s elsewhere; no \r and no
/// colour without a terminal, with NO_COLOR or with CI (docs/formats.md section 2).
class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();  // ends the line
  /// Cheap when it is not yet time to print.
  bool due() const;
  void print(const std::string& line);

 private:
  double last_ = -1e9;
  bool open_ = false;
};

}  // namespace headprune
