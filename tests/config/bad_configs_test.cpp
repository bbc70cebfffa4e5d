// Every case of bad_configs.txt: message, position and order.
#include "core/files.h"
#include "core/text.h"
#include "support/catch.h"
#include "zoo.h"

namespace headprune::zoo {

namespace {

struct BadCase {
  std::string name, yaml, expected;
  std::vector<std::string> overrides;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::vector<BadCase> read_cases() {
  const std::string here = HEADPRUNE_SOURCE_DIR "/tests/config";
  const std::string text = read_file(here + "/bad_configs.txt");
  std::vector<BadCase> cases;
  enum class Part { none, yaml, overrides, expected } part = Part::none;
  for (const std::string_view view : split(text, '\n')) {
    std::string line(view);
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), "", "", {}});
      part = Part::yaml;
    } else if (line == "--- override") {
      part = Part::overrides;
    } else if (line == "--- expect") {
      part = Part::expected;
    } else if (part == Part::yaml) {
      replace_all(line, "\\t", "\t");
      cases.back().yaml += line + "\n";
    } else if (part == Part::overrides) {
      cases.back().overrides.push_back(line);
    } else if (part == Part::expected && !line.empty()) {
      replace_all(line, "$HERE", here);
      cases.back().expected += (cases.back().expected.empty() ? "" : "\n") + line;
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("every bad configuration is answered with its message and position", "[config]") {
  const std::vector<BadCase> cases = read_cases();
  CHECK(cases.size() >= 110);
  for (const BadCase& bad : cases) {
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
