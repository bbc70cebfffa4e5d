#include "core/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>

#include "core/error.h"
#include "core/text.h"

namespace headprune {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

/// "warning: " and "error: " on stderr; everyday lines go without a word.
class LevelPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    std::string_view prefix;
    if (message.level == spdlog::level::warn) prefix = "warning: ";
    if (message.level == spdlog::level::err) prefix = "error: ";
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelPrefix>(); }
};

/// Both places that lines go to. The file has a logger of its own, so that its trouble stays its own.
class Log {
 public:
  Log() : terminal_("stderr", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<LevelPrefix>('*').set_pattern("%*%v");
    terminal_.set_formatter(std::move(formatter));
    terminal_.flush_on(spdlog::level::debug);
  }

  void set_level(LogLevel level) { terminal_.set_level(spdlog_level(level)); }
  bool shows_info() const { return terminal_.should_log(spdlog::level::info); }

  void open_file(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex_);
    file_.reset();
    if (path.empty()) return;
    std::error_code absent;
    const auto there = std::filesystem::status(path, absent);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
      terminal_.warn("no log lines go to {}, which is no regular file", path.string());
      return;
    }
    try {
      file_ = std::make_unique<spdlog::logger>("file", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
      file_->set_formatter(
          std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
      file_->flush_on(spdlog::level::info);
      // Lines for people are not worth a run: a full disk costs lines, and is said once.
      file_->set_error_handler([this, path, told = false](const std::string& reason) mutable {
        if (!told) terminal_.warn("lines are missing in {}: {}", path.string(), reason);
        told = true;
      });
    } catch (const spdlog::spdlog_ex& error) {
      terminal_.warn("cannot write {}: {}", path.string(), error.what());
    }
  }

  void line(LogLevel level, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (terminal_.should_log(spdlog_level(level))) erase_progress();
    terminal_.log(spdlog_level(level), text);
    if (file_) file_->log(spdlog_level(level), text);
  }

  void show_progress(const std::string& text) {
    const std::lock_guard lock(mutex_);
    std::fputs(("\r" + text + "\x1b[K").c_str(), stderr);
    std::fflush(stderr);
    progress_shown_ = true;
  }

  void end_progress() {
    const std::lock_guard lock(mutex_);
    if (progress_shown_) std::fputc('\n', stderr);
    progress_shown_ = false;
  }

 private:
  /// A log line takes the place of the progress line, which the next progress writes below it.
  void erase_progress() {
    if (progress_shown_) std::fputs("\r\x1b[K", stderr);
    progress_shown_ = false;
  }

  std::mutex mutex_;
  spdlog::logger terminal_;
  std::unique_ptr<spdlog::logger> file_;
  bool progress_shown_ = false;
};

Log& log() {
  static Log instance;
  return instance;
}

bool variable_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool rewrites_lines() { return isatty(STDERR_FILENO) == 1 && !variable_set("NO_COLOR") && !variable_set("CI"); }

/// What fits into one line of the terminal: a wrapped line could not be rewritten.
std::string cut_to_terminal(const std::string& text) {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const size_t columns = known ? size.ws_col - 1u : 79u;
  if (display_width(text) <= columns || invalid_utf8(text)) return text;
  std::string cut;
  size_t width = 0;
  for (const auto character : utf8_characters(text)) {
    width += display_width(character);
    if (width > columns) break;
    cut += character;
  }
  return cut;
}

}  // namespace

void set_log_level(LogLevel level) { log().set_level(level); }

LogLevel parse_log_level(const std::string& text) {
  if (text == "debug") return LogLevel::debug;
  if (text == "info") return LogLevel::info;
  if (text == "warn") return LogLevel::warn;
  if (text == "error") return LogLevel::error;
  if (text == "off") return LogLevel::off;
  fail(ExitCode::usage, "unknown log level '{}'; use debug, info, warn, error or off", text);
}

void log_to_file(const std::filesystem::path& path) { log().open_file(path); }

void log_line(LogLevel level, const std::string& text) { log().line(level, text); }

ProgressLine::~ProgressLine() {
  if (open_) log().end_progress();
}

bool ProgressLine::due() const {
  const double elapsed = monotonic_seconds() - last_;
  return elapsed >= 1.0 && log().shows_info() && (elapsed >= 30.0 || rewrites_lines());
}

void ProgressLine::print(const std::string& line) {
  if (!due()) return;
  last_ = monotonic_seconds();
  if (rewrites_lines()) {
    log().show_progress(cut_to_terminal(line));
    open_ = true;
  } else {
    log_line(LogLevel::info, line);
  }
}

}  // namespace headprune
