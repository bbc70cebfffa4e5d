#include "core/memory.h"

#include <sys/resource.h>

#include <new>
#include <stdexcept>
#include <system_error>

#include "support/catch.h"

using namespace headprune;

TEST_CASE("free memory is the least of what limits it", "[core][memory]") {
#ifdef __SANITIZE_ADDRESS__
  WARN("not run: the address sanitizer maps more than any limit of the address space leaves");
  return;
#endif
  const FreeMemory before = free_memory();
  CHECK(before.bytes > 0);
  CHECK(before.bytes < UINT64_MAX);  // the machine's own is always known
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_AS, &old) == 0);
  // Lower than any machine has free, higher than this process needs.
  rlimit limited = old;
  limited.rlim_cur = 1ull << 40;
  if (old.rlim_cur != RLIM_INFINITY && old.rlim_cur < limited.rlim_cur) return;
  REQUIRE(setrlimit(RLIMIT_AS, &limited) == 0);
  CHECK(free_memory().bytes <= before.bytes + (1ull << 30));
  REQUIRE(setrlimit(RLIMIT_AS, &old) == 0);
}

TEST_CASE("a failed allocation is known whoever reports it", "[core][memory]") {
  CHECK(is_out_of_memory(std::bad_alloc()));
  CHECK(is_out_of_memory(std::runtime_error("[enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried")));
  CHECK(is_out_of_memory(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
  CHECK_FALSE(is_out_of_memory(std::runtime_error("index out of range in self")));
  CHECK_FALSE(is_out_of_memory(std::system_error(std::make_error_code(std::errc::no_such_file_or_directory))));
}
