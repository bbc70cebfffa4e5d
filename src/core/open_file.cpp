#include "core/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/error.h"
#include "core/memory.h"
#include "core/process.h"

namespace headprune {
namespace {

[[noreturn]] void refuse(const std::string& name, int error) {
  const std::error_code reason(error, std::generic_category());
  fail(ExitCode::usage, "cannot read {}: {}{}", name, reason.message(), limit_advice(reason));
}

void require_regular(const std::string& name, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) refuse(name, EISDIR);
  if (!S_ISREG(status.st_mode))
    fail(ExitCode::usage, "cannot read {}: it is {}; give a regular file", name, file_kind(status.st_mode));
}

/// Asking is slow, and what is small fits.
uint64_t memory_for(uint64_t bytes) {
  constexpr uint64_t kSmall = uint64_t{64} << 20;
  return bytes <= kSmall ? kSmall : free_memory().bytes;
}

}  // namespace

std::string file_kind(unsigned mode) {
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO or a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

OpenFile::OpenFile(const std::filesystem::path& path) : name_(path.string()) {
  // Before it is opened, since that alone does something to some devices, and again of what was opened.
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) refuse(name_, errno);
  require_regular(name_, status);
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) refuse(name_, errno);
  try {
    if (::fstat(file_, &status) != 0) refuse(name_, errno);
    require_regular(name_, status);
  } catch (const Error&) {
    ::close(file_);
    throw;
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

OpenFile::~OpenFile() { ::close(file_); }

size_t OpenFile::read(char* to, size_t count, uint64_t offset) const {
  size_t have = 0;
  while (have < count) {
    const ssize_t got = ::pread(file_, to + have, count - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno != EINTR) refuse(name_, errno);
    if (got == 0) break;
    if (got > 0) have += static_cast<size_t>(got);
  }
  return have;
}

std::string read_start(const std::filesystem::path& path, size_t count) {
  const OpenFile file(path);
  std::string bytes(count, '\0');
  bytes.resize(file.read(bytes.data(), count, 0));
  return bytes;
}

std::string read_file_up_to(const std::filesystem::path& path, uint64_t at_most) {
  const OpenFile file(path);
  const auto require_room = [&](uint64_t bytes) {
    if (bytes > at_most)
      fail(ExitCode::run_failed, "{} has more than {} bytes, which no file of its kind has; is it the right one?",
           file.name(), at_most);
    if (bytes > memory_for(bytes))
      fail(ExitCode::run_failed, "{} has {} bytes, more than the memory that is free; is it the right file?",
           file.name(), bytes);
  };
  require_room(file.size());
  std::string bytes;
  bytes.reserve(file.size() + 1);
  constexpr size_t kStep = size_t{1} << 20;
  for (bool more = true; more;) {
    const size_t have = bytes.size();
    // Up to where the file ended, and one byte beyond: files of /proc have no size, and others grow.
    const size_t step = file.size() > have ? std::min(kStep, file.size() - have) : kStep;
    bytes.resize(have + step);
    const size_t got = file.read(bytes.data() + have, step, have);
    bytes.resize(have + got);
    more = got == step;
    if (bytes.size() > file.size()) require_room(bytes.size());
  }
  return bytes;
}

Json read_json(const std::filesystem::path& path) {
  return parse_json(read_file_up_to(path, kMaxJsonFile), path.string());
}

}  // namespace headprune
