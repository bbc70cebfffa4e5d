// Bad experiment files through the real binary: every line of stderr, exit 2, nothing written.
#include "cli/program.h"
#include "support/catch.h"
#include "support/config_cases.h"

namespace headprune {

TEST_CASE("every bad experiment is answered with its message and position before anything starts", "[cli]") {
  const std::vector<ConfigCase> cases = read_config_cases(HEADPRUNE_SOURCE_DIR "/tests/cli/bad_experiments.txt");
  CHECK(cases.size() >= 40);
  const TestFolder scratch;
  for (ConfigCase bad : cases) {
    INFO(bad.name);
    replace_all(bad.expected, "$FOLDER", scratch.path().string());
    write_file(scratch / "f.yaml", bad.yaml);
    std::vector<std::string> arguments = {"run", "f.yaml"};
    arguments.insert(arguments.end(), bad.overrides.begin(), bad.overrides.end());
    const Finished finished = headprune_in(scratch.path(), arguments);
    CHECK(finished.code == 2);
    CHECK(finished.out.empty());
    CHECK(std::string(trim(finished.err)) == bad.expected);
    CHECK_FALSE(fs::exists(scratch / "runs"));
  }
}

}  // namespace headprune
