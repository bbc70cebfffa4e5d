// How much memory this process may still take, and whether an exception says that there was none.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace headprune {

struct FreeMemory {
  uint64_t bytes = UINT64_MAX;  // UINT64_MAX where nothing limits it
  std::string limit;            // what sets it, for people: "ulimit -v"
};

/// The least of what is left of the limits on address space and data (ulimit -v, -d), of the control groups that the
/// process is in, and of the machine's memory.
FreeMemory free_memory();

/// std::bad_alloc, LibTorch's failed allocations, and threads that could not be started; of errors that do not say why
/// (oneDNN's), those at a time when next to nothing is left.
bool is_out_of_memory(const std::exception& error);

/// Memory that is set aside, so that a process that has none left can still say so once it is given up.
class MemoryReserve {
 public:
  MemoryReserve();
  void give_up() { blocks_.clear(); }

 private:
  std::vector<std::string> blocks_;  // small ones, which an allocator keeps for itself when they are freed
};

}  // namespace headprune
