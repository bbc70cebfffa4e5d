// The machine, the process and the program itself, as a run records them.
#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"

namespace headprune {

/// {"version","git","dirty","compiler","build"}; git is "unknown" and dirty false where there is no repository.
struct ToolInfo {
  std::string version;
  std::string git;  // short commit
  bool dirty = false;
  std::string compiler;
  std::string build;  // build type and flags

  Json to_json() const;
};
ToolInfo tool_info();

/// {"name","cpu","cores","memory_bytes"}. `cores` are those this process may use.
struct HostInfo {
  std::string name;
  std::string cpu;
  int64_t cores = 0;
  uint64_t memory_bytes = 0;

  Json to_json() const;
};
HostInfo host_info();

/// A process that can be told from a later one with the same number.
struct ProcessId {
  int64_t pid = 0;
  std::string pid_start;  // start time in clock ticks since boot
  std::string host;
  std::string boot_id;
};
ProcessId this_process();
/// Whether the process is there. Only meaningful on its host and boot; anything else counts as not there.
bool process_alive(const ProcessId& process);

}  // namespace headprune
