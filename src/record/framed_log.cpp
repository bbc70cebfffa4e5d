#include "record/framed_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"

namespace headprune {
namespace {

constexpr std::string_view kChecksumKey = ",\"crc32c\":\"";
constexpr size_t kChecksumTail = kChecksumKey.size() + 8 + 2;  // 8 hex digits, "}

/// The line's object without crc32c, or what is wrong with it. `line` has no newline.
std::optional<Json> parse_line(std::string_view line, std::string& problem) {
  if (line.size() <= kChecksumTail || line.substr(line.size() - kChecksumTail, kChecksumKey.size()) != kChecksumKey ||
      line.substr(line.size() - 2) != "\"}") {
    problem = "it does not end with a crc32c";
    return std::nullopt;
  }
  const std::string_view content = line.substr(0, line.size() - kChecksumTail);
  if (line.substr(line.size() - 10, 8) != fmt::format("{:08x}", crc32c(content))) {
    problem = "its crc32c does not match its content";
    return std::nullopt;
  }
  try {
    Json fields = parse_json(std::string(content) + "}", "the line");
    if (fields.is_object()) return fields;
    problem = "it is no object";
    return std::nullopt;
  } catch (const Error& error) {
    problem = error.what();
    return std::nullopt;
  }
}

/// The first failure is the one to tell; the file system may be gone altogether.
std::string free_text(const std::filesystem::path& path) {
  try {
    return fmt::format("{} bytes free", bytes_free(path));
  } catch (const Error&) {
    return "free space not known";
  }
}

[[noreturn]] void fail_io(const char* what, const std::filesystem::path& path, int error) {
  fail(ExitCode::io, "cannot {} {}: {} ({}); make space and run the same command again to continue", what,
       path.string(), std::strerror(error), free_text(path));
}

}  // namespace

std::string frame_line(const Json& fields) {
  std::string line = dump_json(fields);
  line.pop_back();  // }
  line += fmt::format("{}{:08x}\"}}\n", kChecksumKey, crc32c(line));
  if (line.size() > kMaxFramedLine) {
    throw std::length_error(fmt::format("a journal line of {} bytes is longer than {}", line.size(), kMaxFramedLine));
  }
  return line;
}

FramedLines read_framed(const std::filesystem::path& path) {
  FramedLines result;
  if (!std::filesystem::exists(path)) return result;
  const std::string text = read_file(path);
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // torn
    std::string problem;
    std::optional<Json> line = parse_line(std::string_view(text).substr(begin, end - begin), problem);
    if (!line) {
      if (end + 1 == text.size()) break;  // a last line that a crash of the machine left incomplete
      fail(ExitCode::run_failed, "{}:{}: bad line: {}; restore the file from a copy, or start afresh with --new",
           path.string(), result.lines.size() + 1, problem);
    }
    result.lines.push_back(std::move(*line));
    begin = end + 1;
  }
  result.valid_bytes = begin;
  result.torn = begin < text.size();
  return result;
}

FramedLog::FramedLog(const std::filesystem::path& path, FramedLines* content) : path_(path) {
  FramedLines lines = read_framed(path);
  descriptor_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_io("open", path, errno);
  size_ = lines.valid_bytes;
  if (lines.torn) {
    log_warn("[record] {}: the last line was cut short by a crash and is dropped", path.filename().string());
    if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0 || ::fdatasync(descriptor_) != 0) {
      const int error = errno;
      ::close(descriptor_);
      fail_io("cut the torn last line off", path, error);
    }
  }
  if (content != nullptr) *content = std::move(lines);
}

FramedLog::~FramedLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FramedLog::append(const Json& fields, Durable durable) {
  const std::string line = frame_line(fields);
  const auto take_back = [&](const char* what) {
    const int error = errno;
    // Should this fail as well, a torn line is left, which readers ignore and the next writer cuts off.
    if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) {
      log_warn("[record] cannot take a partly written line back: {}", std::strerror(errno));
    }
    fail_io(what, path_, error);
  };
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) take_back("write to");
    written += static_cast<size_t>(count);
  }
  if (durable == Durable::yes && ::fdatasync(descriptor_) != 0) take_back("sync");
  size_ += line.size();
}

void FramedLog::require_in_place() const {
  struct stat open = {}, there = {};
  if (::fstat(descriptor_, &open) != 0) fail_io("look at", path_, errno);
  if (::stat(path_.c_str(), &there) == 0 && there.st_dev == open.st_dev && there.st_ino == open.st_ino) return;
  fail(
      ExitCode::io,
      "{} is not the file any more that this process writes: it was deleted, moved or replaced meanwhile; put it back, "
      "or run again in another folder",
      path_.string());
}

}  // namespace headprune
