#include "core/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/text.h"

namespace headprune {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The number after `key` in lines "key number [kB]", in bytes where kB follows.
std::optional<uint64_t> value_of(const std::string& text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::string_view rest = trim(line.substr(key.size()));
    const bool kilobytes = rest.ends_with("kB");
    const auto number = parse_number(rest.substr(0, rest.find(' ')));
    if (number && *number >= 0) return static_cast<uint64_t>(*number) * (kilobytes ? 1024 : 1);
  }
  return std::nullopt;
}

/// A file that holds one number; "max" and the like are none.
std::optional<uint64_t> number_in(const fs::path& path) {
  const std::string text = read_text(path);
  const auto number = parse_number(trim(text));
  if (!number || *number < 0 || *number > 9e18) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

uint64_t left_of(uint64_t limit, uint64_t used) { return limit > used ? limit - used : 0; }

void take_least(FreeMemory& least, uint64_t bytes, const std::string& limit) {
  if (bytes < least.bytes) least = {bytes, limit};
}

void take_rlimit(FreeMemory& least, int resource, const char* status_key, const char* name) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const uint64_t used = value_of(read_text("/proc/self/status"), status_key).value_or(0);
  take_least(least, left_of(limit.rlim_cur, used), name);
}

/// One group: pages of files that nobody maps are given back before the limit hurts.
void take_group(FreeMemory& least, const fs::path& group, const char* limit_file, const char* used_file) {
  const auto limit = number_in(group / limit_file), used = number_in(group / used_file);
  if (!limit || !used) return;
  const std::string statistics = read_text(group / "memory.stat");
  const uint64_t reclaimable = value_of(statistics, "inactive_file ").value_or(0);
  take_least(least, left_of(*limit, left_of(*used, reclaimable)), "the control group's limit");
}

/// The groups of this process and all above them. Inside a container the path may not exist: then its root counts.
void take_groups(FreeMemory& least) {
  const std::string groups = read_text("/proc/self/cgroup");
  for (const std::string_view line : split(groups, '\n')) {
    const std::vector<std::string_view> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool second = parts[0] == "0" && parts[1].empty();
    if (!second && parts[1].find("memory") == std::string_view::npos) continue;
    const fs::path root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* limit = second ? "memory.max" : "memory.limit_in_bytes";
    const char* used = second ? "memory.current" : "memory.usage_in_bytes";
    for (fs::path path = fs::path(parts[2]).relative_path();; path = path.parent_path()) {
      take_group(least, root / path, limit, used);
      if (path.empty()) break;
    }
  }
}

}  // namespace

FreeMemory free_memory() {
  FreeMemory least;
  if (const auto available = value_of(read_text("/proc/meminfo"), "MemAvailable:"))
    take_least(least, *available, "the machine's free memory");
  take_groups(least);
  take_rlimit(least, RLIMIT_AS, "VmSize:", "ulimit -v");
  take_rlimit(least, RLIMIT_DATA, "VmData:", "ulimit -d");
  return least;
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return true;
  if (const auto* system = dynamic_cast<const std::system_error*>(&error))
    return system->code() == std::errc::resource_unavailable_try_again ||
           system->code() == std::errc::not_enough_memory;
  const std::string_view what = error.what();
  for (const std::string_view words : {"can't allocate memory", "not enough memory", "out of memory"})
    if (what.find(words) != std::string_view::npos) return true;
  constexpr uint64_t kNothing = 8 << 20;
  return what.find("could not create") != std::string_view::npos && free_memory().bytes < kNothing;
}

MemoryReserve::MemoryReserve() : blocks_(256, std::string(size_t{64} << 10, '\0')) {}

}  // namespace headprune
