// bench WORK SETTINGS EXPERIMENT [key=value ...]: prepares a work, says "ready", and then runs it once for every line
// on standard input, answering with {"seconds", "result"}. So two programs can take turns without starting anew.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <iostream>

#include "benchmarks/work.h"
#include "core/error.h"
#include "core/log.h"
#include "model/linear.h"
#include "run/fingerprint.h"

namespace {

/// The most memory that this process has had at once.
int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace headprune;
  if (argc < 4) {
    fmt::print(stderr, "usage: bench WORK SETTINGS EXPERIMENT [key=value ...]\n");
    return static_cast<int>(ExitCode::usage);
  }
  try {
    const std::vector<std::string> overrides(argv + 4, argv + argc);
    const auto loaded = load_config<Experiment>(std::filesystem::path(argv[3]), overrides);
    configure_runtime(loaded.value.runtime);
    const Json settings = parse_json(argv[2], "SETTINGS");
    const bench::Work work = bench::all_works().at(argv[1])({loaded, settings});
    fmt::print("{}\n", Json({{"ready", argv[1]}, {"linear", enum_name(products_of(loaded.value.runtime).library)}}).dump());
    std::cout.flush();
    for (std::string line; std::getline(std::cin, line);) {
      const auto start = std::chrono::steady_clock::now();
      const Json result = work();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      fmt::print("{}\n", Json({{"seconds", seconds}, {"result", result}, {"peak_bytes", peak_bytes()}}).dump());
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return static_cast<int>(ExitCode::unexpected);
  }
}
