#include "core/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "core/memory.h"

namespace headprune {
namespace {

/// Reasons that lie in what is written to, not in the path.
bool is_of_disk(const std::error_code& reason) {
  for (const int number : {ENOSPC, EDQUOT, EROFS, EIO, EFBIG})
    if (reason == std::error_condition(number, std::generic_category())) return true;
  return false;
}

}  // namespace

std::string limit_advice(const std::error_code& reason) {
  const bool full = reason == std::errc::too_many_files_open || reason == std::errc::too_many_files_open_in_system;
  return full ? "; raise the number of open files (ulimit -n)" : "";
}

void open_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is this one, since those before it are open.
    const int opened = ::open("/dev/null", O_RDWR);
    if (opened != descriptor && opened >= 0) {
      ::dup2(opened, descriptor);
      ::close(opened);
    }
  }
}

void require_working_directory() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || here.empty())
    fail(ExitCode::usage, "the working directory is not there any more ({}): change to one that is", error.message());
}

void require_output_written() {
  std::cout.flush();
  const bool whole = std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!whole) fail(ExitCode::io, "cannot write to stdout: is the disk full, or the pipe's reader gone?");
}

std::optional<Error> system_problem(const std::exception& error) {
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    const std::string path = file->path1().empty() ? "a folder" : file->path1().string();
    return Error(is_of_disk(file->code()) ? ExitCode::io : ExitCode::usage,
                 fmt::format("cannot get at {}: {}{}", path, file->code().message(), limit_advice(file->code())));
  }
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  // A thread's stack that finds no memory gives the same number.
  constexpr uint64_t kStacks = uint64_t{64} << 20;
  if (system && system->code() == std::errc::resource_unavailable_try_again && free_memory().bytes > kStacks)
    return Error(ExitCode::run_failed,
                 "the system starts no more threads or processes for this user: raise the limit (ulimit -u), or set "
                 "runtime.threads lower");
  return std::nullopt;
}

}  // namespace headprune
