// Entry point and the only catch-all: turns what escapes into one sentence on stderr and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/run_command.h"
#include "config/problems.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/process.h"
#include "record/host.h"

int main(int argc, char** argv) {
  using namespace headprune;
  open_standard_descriptors();
  try {
    require_working_directory();
    const ExitCode code = run_command(argc, argv);
    require_output_written();
    return static_cast<int>(code);
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "headprune: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    if (const std::optional<Error> problem = system_problem(error)) {
      fmt::print(stderr, "headprune: {}\n", problem->what());
      return static_cast<int>(problem->code());
    }
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
