// Entry point and the only catch-all: turns what escapes into one sentence on stderr and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/run_command.h"
#include "config/problems.h"
#include "core/error.h"
#include "core/memory.h"
#include "record/host.h"

int main(int argc, char** argv) {
  using namespace headprune;
  try {
    return static_cast<int>(run_command(argc, argv));
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "headprune: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) {
      fmt::print(stderr, "headprune: memory ran out: {}\n", error.what());
      return static_cast<int>(ExitCode::run_failed);
    }
    const ToolInfo tool = tool_info();
    fmt::print(stderr,
               "headprune: unexpected: {}\nThis is a bug in headprune {} ({}): please report it with the command and "
               "log.txt of the run.\n",
               error.what(), tool.version, tool.git);
    return static_cast<int>(ExitCode::unexpected);
  }
}
