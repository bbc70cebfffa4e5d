// The rule that src/prune/README.md shows: compiled from there, registered, and right.
#include "core/files.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

TEST_CASE("the README's rule removes every second head", "[prune][readme]") {
  HeadsOnly model{encoder_blocks({3, 2})};
  NotingHost host{encoder_blocks({3, 2}), no_scores};
  run(*make_rule("every_second"), sweep_input("half", "every_second", model, {}), model, host);
  run(*make_rule("{every_second: {first: 1}}"), sweep_input("other", "every_second", model, {}), model, host);
  REQUIRE(host.points.size() == 2);
  CHECK(names(host.points[0].removed) == std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H2", "encoder.L1.H0"});
  CHECK(host.points[0].spec.heads_removed == 3);
  CHECK(host.points[0].fraction == 0.6);
  CHECK(names(host.points[1].removed) == std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H1"});
  CHECK_THROWS(make_rule("{every_second: {first: 2}}"));
}

TEST_CASE("the README names what a new rule needs", "[prune][readme]") {
  const std::string readme = read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "src/prune/README.md");
  for (const char* name : {"src/prune/CMakeLists.txt", "tests/prune/one_shot_test.cpp", "tests/cli/docs_test.cpp"}) {
    CHECK_THAT(readme, ContainsSubstring(name));
    CHECK(fs::exists(fs::path(HEADPRUNE_SOURCE_DIR) / name));
  }
}
