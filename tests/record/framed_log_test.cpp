#include "record/framed_log.h"

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;

namespace {

std::string message_of(const fs::path& path) {
  try {
    read_framed(path);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
    return error.what();
  }
  return "";
}

/// Appends lines until the disk is full; returns how many went in. The last one must fail with Error(io).
int64_t fill(const fs::path& path) {
  FramedLog log(path);
  for (int64_t i = 1;; ++i) {
    try {
      log.append({{"i", i}, {"text", std::string(3000, 'x')}}, Durable::yes);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::io);
      CHECK_THAT(error.what(), ContainsSubstring(path.string()));
      return i - 1;
    }
  }
}

}  // namespace

TEST_CASE("a framed line is the example of docs/formats.md section 7", "[record]") {
  const Json fields = {{"v", 1},
                       {"seq", 17},
                       {"t", "2026-01-02T03:04:05.678Z"},
                       {"attempt", 1},
                       {"ev", "warn"},
                       {"code", "tied_scores"},
                       {"message", "3 heads share one score"}};
  CHECK(frame_line(fields) ==
        R"({"v":1,"seq":17,"t":"2026-01-02T03:04:05.678Z","attempt":1,"ev":"warn","code":"tied_scores",)"
        R"("message":"3 heads share one score","crc32c":"d304181d"})"
        "\n");
}

TEST_CASE("what was appended is read back in order, by several writers in turn", "[record]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "log.jsonl";
  for (int attempt = 1; attempt <= 3; ++attempt) {
    FramedLines before;
    FramedLog log(path, &before);
    CHECK(before.lines.size() == static_cast<size_t>(2 * (attempt - 1)));
    log.append({{"attempt", attempt}, {"text", "quote \" and \xC3\xA4"}}, Durable::no);
    log.append({{"attempt", attempt}, {"value", 0.1}}, Durable::yes);
  }
  const FramedLines lines = read_framed(path);
  REQUIRE(lines.lines.size() == 6);
  CHECK(lines.lines[4] == Json{{"attempt", 3}, {"text", "quote \" and \xC3\xA4"}});
  CHECK(lines.lines[5]["value"] == 0.1);
  CHECK_FALSE(lines.torn);
  CHECK(lines.valid_bytes == fs::file_size(path));
}

TEST_CASE("a missing or empty file has no lines", "[record]") {
  const TestFolder folder;
  CHECK(read_framed(folder.path() / "none").lines.empty());
  write_file(folder.path() / "empty", "");
  CHECK(read_framed(folder.path() / "empty").lines.empty());
}

TEST_CASE("a line torn at any byte is ignored by readers and cut off by the next writer", "[record]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "log.jsonl";
  const std::string first = frame_line({{"seq", 1}, {"text", "kept"}});
  const std::string last = frame_line({{"seq", 2}, {"text", "torn \xC3\xA4"}});
  set_log_level(LogLevel::off);  // or every torn tail is announced
  for (size_t bytes = 0; bytes < last.size(); ++bytes) {
    write_file(path, first + last.substr(0, bytes));
    const FramedLines lines = read_framed(path);
    REQUIRE(lines.lines.size() == 1);
    CHECK(lines.torn == (bytes > 0));
    CHECK(lines.valid_bytes == first.size());
    {
      FramedLog log(path);
      log.append({{"seq", 2}, {"text", "torn \xC3\xA4"}}, Durable::no);
    }
    REQUIRE(read_file(path) == first + last);
  }
  set_log_level(LogLevel::info);
}

TEST_CASE("every prefix of a file is a valid file", "[record]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "log.jsonl";
  const std::string text = frame_line({{"seq", 1}}) + frame_line({{"seq", 2}}) + frame_line({{"seq", 3}});
  for (size_t bytes = 0; bytes <= text.size(); ++bytes) {
    write_file(path, text.substr(0, bytes));
    const auto whole =
        static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(bytes), '\n'));
    CHECK(read_framed(path).lines.size() == whole);
  }
}

TEST_CASE("a last line with its newline but damaged content counts as torn", "[record]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "log.jsonl";
  std::string last = frame_line({{"seq", 2}});
  last[2] = '\0';
  write_file(path, frame_line({{"seq", 1}}) + last);
  CHECK(read_framed(path).lines.size() == 1);
  CHECK(read_framed(path).torn);
}

TEST_CASE("a bad line before the last one is an error that names file and line", "[record]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "log.jsonl";
  const std::string good = frame_line({{"seq", 1}});
  std::string flipped = good;
  flipped[7] = '9';
  write_file(path, good + flipped + good);
  CHECK_THAT(message_of(path), ContainsSubstring(path.string() + ":2: bad line") && ContainsSubstring("crc32c"));
  write_file(path, good + good + "{\"seq\":1}\n" + good);
  CHECK_THAT(message_of(path), ContainsSubstring(":3: bad line"));
  write_file(path, "\n" + good);
  CHECK_THAT(message_of(path), ContainsSubstring(":1: bad line"));
}

TEST_CASE("lines beyond 64 KiB are refused before anything is written", "[record]") {
  const TestFolder folder;
  FramedLog log(folder.path() / "log.jsonl");
  CHECK_THROWS_AS(log.append({{"text", std::string(70000, 'x')}}, Durable::no), std::length_error);
  log.append({{"text", "short"}}, Durable::no);
  CHECK(read_framed(folder.path() / "log.jsonl").lines.size() == 1);
}

TEST_CASE("at a file size limit the line is taken back and the next writer continues", "[record]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "log.jsonl";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20000, 20000};
    int status = setrlimit(RLIMIT_FSIZE, &limit) == 0 ? 0 : 9;
    try {
      FramedLog log(path);
      for (int i = 1; i <= 6; ++i) log.append({{"i", i}, {"text", std::string(3000, 'x')}}, Durable::no);
      for (int i = 0; i < 3 && status == 0; ++i) {
        try {
          log.append({{"i", 7}, {"text", std::string(3000, 'x')}}, Durable::no);
          status = 8;
        } catch (const Error& error) {
          if (error.code() != ExitCode::io) status = 7;
        }
      }
      log.append({{"i", 7}, {"text", "short"}}, Durable::no);
    } catch (const std::exception&) {
      status = 6;
    }
    _exit(status);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  const FramedLines lines = read_framed(path);
  CHECK_FALSE(lines.torn);
  REQUIRE(lines.lines.size() == 7);
  CHECK(lines.lines[6] == Json{{"i", 7}, {"text", "short"}});
}

TEST_CASE("on a full disk append fails with exit 74 and nothing before it is damaged", "[record]") {
  const TestFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    WARN("no right to mount a tmpfs: the full disk was not tried");
    return;
  }
  const fs::path path = folder.path() / "log.jsonl";
  const fs::path ballast = folder.path() / "ballast";
  write_file(ballast, std::string(20000, 'b'));
  const int64_t written = fill(path);
  const FramedLines full = read_framed(path);
  fs::remove(ballast);
  const int64_t more = fill(path);
  const FramedLines after = read_framed(path);
  ::umount2(folder.path().c_str(), MNT_DETACH);
  CHECK(written > 5);
  CHECK(full.lines.size() == static_cast<size_t>(written));
  CHECK_FALSE(full.torn);
  CHECK(more > 2);
  CHECK(after.lines.size() == static_cast<size_t>(written + more));
}
