#include "core/leftovers.h"

#include <signal.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>

namespace headprune {

namespace fs = std::filesystem;

namespace {

/// Whether a process of this host has the number.
bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

/// The process id in NAME.tmp-PID or .tmp-PID-N, where `name` begins with `start`.
std::optional<pid_t> writer_of(const std::string& name, const std::string& start) {
  if (!name.starts_with(start)) return std::nullopt;
  pid_t process = 0;
  const char* const end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data() + start.size(), end, process);
  if (error != std::errc() || process < 1 || (stopped != end && *stopped != '-')) return std::nullopt;
  return process;
}

}  // namespace

void remove_abandoned_files(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> seen;
  const std::lock_guard lock(mutex);
  if (!seen.insert(folder).second) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const auto process = writer_of(entry->path().filename().string(), ".tmp-");
    if (!process || is_alive(*process)) continue;
    std::error_code ignored;
    const auto written = fs::last_write_time(entry->path(), ignored);
    if (!ignored && fs::file_time_type::clock::now() - written > std::chrono::hours(1))
      fs::remove(entry->path(), ignored);
  }
}

void remove_abandoned_folders(const fs::path& target) {
  const std::string start = target.filename().string() + ".tmp-";
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const auto process = writer_of(entry->path().filename().string(), start);
    std::error_code kept;
    if (process && !is_alive(*process)) fs::remove_all(entry->path(), kept);
  }
}

}  // namespace headprune
