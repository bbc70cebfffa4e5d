// The analysis that src/analysis/README.md shows: compiled from there, registered, and right.
#include "analysis/support.h"
#include "core/files.h"

using namespace headprune;
using namespace headprune::test;

TEST_CASE("the README's analysis tells heads that look at either half", "[analysis][readme]") {
  const auto model = planted({{Plant::first, Plant::separator, Plant::uniform}}, Architecture::encoder);
  std::vector<Example> texts;
  for (const int64_t length : {3, 4, 6}) {
    Example text;
    text.tokens = {2, 4, 5, 6, 7, 8};
    text.tokens.resize(static_cast<size_t>(length), 4);
    text.tokens.back() = 3;
    text.special = {0};
    text.label = 0;
    texts.push_back(text);
  }
  const AnalysisResult result = analyse("halves", *model, texts);
  CHECK(role_texts(result, model->blocks()) ==
        std::vector<std::string>{"encoder.L0.H0 half: first", "encoder.L0.H1 half: second"});
  // Half of the positions, rounded down: 1 of 3, 2 of 4, 3 of 6, each text with as many queries as positions.
  CHECK(column(result, "weight_first_half").values[0][2].item<double>() ==
        Approx((1.0 + 2.0 + 3.0) / 13).epsilon(1e-12));
}

TEST_CASE("the README names what a new analysis needs", "[analysis][readme]") {
  const std::string readme = read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "src/analysis/README.md");
  for (const char* name :
       {"src/analysis/CMakeLists.txt", "tests/analysis/columns_test.cpp", "tests/cli/docs_test.cpp"}) {
    CHECK_THAT(readme, ContainsSubstring(name));
    CHECK(fs::exists(fs::path(HEADPRUNE_SOURCE_DIR) / name));
  }
}
