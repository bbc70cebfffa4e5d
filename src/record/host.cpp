#include "record/host.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/text.h"
#include "tool_state.h"  // HEADPRUNE_GIT, HEADPRUNE_DIRTY, made by tool_state.cmake at every build

namespace headprune {
namespace {

/// Files of /proc have no size, so they are read as streams; empty where there is none.
std::string read_proc(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Field 22 of /proc/PID/stat; the process name before it is in parentheses and may hold spaces and parentheses.
std::string start_ticks(int64_t pid) {
  const std::string text = read_proc("/proc/" + std::to_string(pid) + "/stat");
  const size_t after_name = text.rfind(") ");
  if (after_name == std::string::npos) return "";
  const std::vector<std::string_view> fields = split(std::string_view(text).substr(after_name + 2), ' ');
  constexpr size_t kStartTime = 22 - 3;
  // A zombie is as gone as a process that was reaped.
  if (fields.size() <= kStartTime || fields[0] == "Z" || fields[0] == "X") return "";
  return std::string(fields[kStartTime]);
}

std::string cpu_name() {
  std::istringstream lines(read_proc("/proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("model name", 0) == 0) return std::string(trim(line.substr(line.find(':') + 1)));
  }
  utsname names{};
  return uname(&names) == 0 ? names.machine : "unknown";
}

std::string host_name() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "unknown";
}

}  // namespace

Json ToolInfo::to_json() const {
  return {{"version", version}, {"git", git}, {"dirty", dirty}, {"compiler", compiler}, {"build", build}};
}

ToolInfo tool_info() {
  return {HEADPRUNE_VERSION, HEADPRUNE_GIT, HEADPRUNE_DIRTY != 0, HEADPRUNE_COMPILER, HEADPRUNE_BUILD};
}

Json HostInfo::to_json() const {
  return {{"name", name}, {"cpu", cpu}, {"cores", cores}, {"memory_bytes", memory_bytes}};
}

HostInfo host_info() {
  HostInfo info;
  info.name = host_name();
  info.cpu = cpu_name();
  cpu_set_t usable;
  CPU_ZERO(&usable);
  info.cores = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : sysconf(_SC_NPROCESSORS_ONLN);
  info.memory_bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return info;
}

ProcessId this_process() {
  const int64_t pid = getpid();
  return {pid, start_ticks(pid), host_name(), std::string(trim(read_proc("/proc/sys/kernel/random/boot_id")))};
}

bool process_alive(const ProcessId& process) {
  const ProcessId here = this_process();
  if (process.host != here.host || process.boot_id != here.boot_id || process.pid_start.empty()) return false;
  return start_ticks(process.pid) == process.pid_start;
}

}  // namespace headprune
