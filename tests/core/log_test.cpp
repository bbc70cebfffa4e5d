#include "core/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <regex>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "support/catch.h"

using namespace headprune;

namespace {

/// What `work` writes to stderr, which is a file meanwhile and so no terminal.
template <class Work>
std::string stderr_of(Work work) {
  const auto path = fs::temp_directory_path() / fmt::format("headprune-log-test-{}.txt", ::getpid());
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  work();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  const std::string text = read_file(path);
  fs::remove(path);
  return text;
}

}  // namespace

TEST_CASE("stderr shows plain lines, and the level of warnings and errors", "[core]") {
  CHECK(stderr_of([] {
          log_line(LogLevel::debug, "[test] hidden");
          log_info("[test] step {}", 200);
          log_warn("[test] {{}} odd");
          log_line(LogLevel::error, "[test] bad {} %v");
        }) == "[test] step 200\nwarning: [test] {} odd\nerror: [test] bad {} %v\n");
}

TEST_CASE("the level of stderr is that asked for", "[core]") {
  CHECK(stderr_of([] {
          set_log_level(parse_log_level("warn"));
          log_info("[test] info");
          log_warn("[test] warn");
          set_log_level(parse_log_level("debug"));
          log_line(LogLevel::debug, "[test] debug");
          set_log_level(LogLevel::info);
        }) == "warning: [test] warn\n[test] debug\n");
  CHECK_THROWS_AS(parse_log_level("loud"), Error);
}

TEST_CASE("log.txt is appended to with UTC time and level, whatever stderr shows", "[core]") {
  const auto path = fs::temp_directory_path() / fmt::format("headprune-log-test-{}.log", ::getpid());
  set_log_level(LogLevel::off);
  for (int i = 0; i < 2; ++i) {
    log_to_file(path);
    log_info("[train] step 200/1000 loss 0.6134");
    log_line(LogLevel::debug, "[train] not in the file");
    log_to_file({});
    log_info("[train] after the end");
  }
  set_log_level(LogLevel::info);
  const std::string text = read_file(path);
  fs::remove(path);
  const auto lines = split(text, '\n');
  REQUIRE(lines.size() == 3);
  const std::regex form(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info \[train\] step 200/1000 loss 0\.6134)");
  CHECK(std::regex_match(std::string(lines[0]), form));
  CHECK(std::regex_match(std::string(lines[1]), form));
}

TEST_CASE("a log file that cannot be opened is a warning", "[core]") {
  const std::string text = stderr_of([] { log_to_file("/proc/none/log.txt"); });
  CHECK_THAT(text, ContainsSubstring("warning: cannot write /proc/none/log.txt"));
}

TEST_CASE("without a terminal, progress is plain lines, at most one in 30 s", "[core]") {
  CHECK(stderr_of([] {
          ProgressLine progress;
          for (int i = 0; i < 1000; ++i) {
            if (progress.due()) progress.print(fmt::format("[train] step {}", i));
          }
          progress.print("too soon");
        }) == "[train] step 0\n");
}

TEST_CASE("progress is quiet when information is", "[core]") {
  set_log_level(LogLevel::warn);
  CHECK_FALSE(ProgressLine().due());
  set_log_level(LogLevel::info);
}
