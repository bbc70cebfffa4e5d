// Every case of bad_configs.txt: message, position and order.
#include "support/catch.h"
#include "support/config_cases.h"
#include "zoo.h"

namespace headprune::zoo {

TEST_CASE("every bad configuration is answered with its message and position", "[config]") {
  const std::vector<ConfigCase> cases = read_config_cases(HEADPRUNE_SOURCE_DIR "/tests/config/bad_configs.txt");
  CHECK(cases.size() >= 110);
  for (const ConfigCase& bad : cases) {
    INFO(bad.name << "\n" << bad.yaml);
    CHECK_FALSE(bad.expected.empty());
    CHECK(problems_of(bad.yaml, bad.overrides) == bad.expected);
  }
}

TEST_CASE("the problems are one error of exit code 2 with parts that programs can read", "[config]") {
  try {
    load_text(kSmall + "model: {heads: x}\n", {"model.d_model=y"});
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(error.code() == ExitCode::usage);
    REQUIRE(error.diagnostics().size() == 2);
    CHECK(error.diagnostics()[0].file == "f.yaml");
    CHECK(error.diagnostics()[0].line == 3);
    CHECK(error.diagnostics()[0].column == 16);
    CHECK(error.diagnostics()[0].path == "model.heads");
    CHECK(error.diagnostics()[1].file == "override:1");
    CHECK(error.diagnostics()[1].line == 0);
    CHECK(error.diagnostics()[1].column == 15);
  }
}

}  // namespace headprune::zoo
