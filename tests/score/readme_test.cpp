// The score that src/score/README.md shows: compiled from there, registered, and right.
#include "core/files.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

TEST_CASE("the README's score is the mean weight of a query's own position", "[score][readme]") {
  REQUIRE(Registry<ScoreMethod>::instance().has("self_attention"));
  const torch::NoGradGuard no_grad;
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const Importance found = score("self_attention", subject);
    CHECK(score("{self_attention: {keep_low: true}}", subject).values[0].equal(-found.values[0]));
    const FrozenModel frozen(*subject.model);  // without dropout
    PerBlock expected;
    for (const BlockHeads& block : subject.model->blocks())
      expected.push_back(torch::zeros({block.count()}, torch::kFloat64));
    for (const Batch& batch : batches_of(subject.examples, 1)) {
      const ModelOutput seen = subject.model->forward(batch, {.gates = {}, .weights = true});
      for (size_t b = 0; b < expected.size(); ++b)
        expected[b] += seen.heads.weights[b][0].diagonal(0, 1, 2).mean(-1) / std::ssize(subject.examples);
    }
    CHECK(relative_difference(found.values, expected) < 1e-12);
  }
}

TEST_CASE("the README names what a new score needs", "[score][readme]") {
  const std::string readme = read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "src/score/README.md");
  for (const char* name : {"src/score/CMakeLists.txt", "tests/score/registry_test.cpp", "tests/score/support.cpp"}) {
    CHECK_THAT(readme, ContainsSubstring(name));
    CHECK(fs::exists(fs::path(HEADPRUNE_SOURCE_DIR) / name));
  }
}
