#include "data/splits.h"

#include <set>

#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// train.tsv with `count` examples "w0" ... and labels 0, 1 in turn, the same as dev.tsv.
void write_counted(TestFolder& folder, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("w{}\t{}\n", i, i % 2);
  folder.write("train.tsv", text);
  folder.write("dev.tsv", text);
}

std::vector<std::string> words(const Dataset& data, const Split& split) {
  std::vector<std::string> all;
  for (const Example& example : split.examples) all.push_back(data.tokenizer->token(example.tokens.at(1)));
  return all;
}

int number(const std::string& word) { return std::stoi(word.substr(1)); }

}  // namespace

TEST_CASE("a cut part is a seeded sample that the other part gives up", "[data]") {
  TestFolder folder;
  write_counted(folder, 40);
  const std::string options = "type: tsv, path: ., unit: byte, cut: {test: {from: train, fraction: 0.25}}";
  const Dataset data = load(options, folder.path(), 7);
  CHECK(data.train->examples.size() == 30);
  CHECK(data.report->examples.size() == 10);
  CHECK(data.shared_splits().empty());
  REQUIRE_FALSE(data.warnings.empty());  // the texts of dev.tsv are those of train.tsv, which is said too
  CHECK(data.part_notes.at("test") == data.warnings[0]);
  CHECK_THAT(data.warnings[0], ContainsSubstring("test part is cut from the train part: 10 of its 40 examples") &&
                                   ContainsSubstring("data/cut/test") && ContainsSubstring("seed 7"));
  CHECK(load(options, folder.path(), 7).report->sha256 == data.report->sha256);
  CHECK(load(options, folder.path(), 8).report->sha256 != data.report->sha256);

  const Dataset by_word =
      load("type: tsv, path: ., vocabulary_size: 100, cut: {test: {from: dev, fraction: 0.25}}", folder.path(), 7);
  std::set<std::string> both;
  for (const auto& split : {by_word.select, by_word.report})
    for (const std::string& word : words(by_word, *split)) CHECK(both.insert(word).second);
  CHECK(both.size() == 40);
  // In the file's order, and not simply its end.
  const std::vector<std::string> cut = words(by_word, *by_word.report);
  CHECK(std::is_sorted(cut.begin(), cut.end(), [](const auto& a, const auto& b) { return number(a) < number(b); }));
  CHECK(number(cut.front()) < 30);
}

TEST_CASE("a cut for a part that no role reads says that it has no effect", "[data]") {
  TestFolder folder;
  write_counted(folder, 40);
  const Dataset data =
      load("type: tsv, path: ., splits: {report: dev}, cut: {test: {from: train, fraction: 0.5}}", folder.path(), 7);
  CHECK(data.train->examples.size() == 40);
  REQUIRE_FALSE(data.warnings.empty());
  CHECK_THAT(data.warnings[0], ContainsSubstring("data.cut.test has no effect"));
}

TEST_CASE("impossible cuts are refused", "[data]") {
  TestFolder folder;
  write_counted(folder, 4);
  const std::string start = "type: tsv, path: ., splits: {report: dev}, cut: ";
  CHECK_THROWS_WITH(load(start + "{dev: {from: train}}", folder.path()),
                    ContainsSubstring("data.cut.dev would replace the file"));
  CHECK_THROWS_WITH(load(start + "{test: {from: test}}", folder.path()), ContainsSubstring("cut from itself"));
  CHECK_THROWS_WITH(load(start + "{test: {from: dev}, dev: {from: train}}", folder.path()),
                    ContainsSubstring("is cut itself"));
  CHECK_THROWS_WITH(
      load(start + "{test: {from: train, fraction: 0.6}, dev: {from: train, fraction: 0.5}}", folder.path()),
      ContainsSubstring("leave nothing of the train part"));
  CHECK_THROWS_WITH(load("type: tsv, path: ., cut: {test: {from: train, fraction: 0.01}}", folder.path()),
                    ContainsSubstring("the test part of") && ContainsSubstring("has no examples"));
}

TEST_CASE("limits are seeded samples in the original order, one for each role", "[data]") {
  TestFolder folder;
  write_counted(folder, 40);
  const std::string options =
      "type: tsv, path: ., splits: {select: train, report: dev}, limit: {score: 10, select: 10, report: 99}";
  const Dataset data = load(options, folder.path(), 3);
  CHECK(data.train->examples.size() == 40);
  CHECK(data.score->examples.size() == 10);
  CHECK(data.score->original == 40);
  CHECK(data.report->examples.size() == 40);
  CHECK(data.score->sha256 != data.select->sha256);
  const std::vector<std::string> sample = words(data, *data.score);
  CHECK(
      std::is_sorted(sample.begin(), sample.end(), [](const auto& a, const auto& b) { return number(a) < number(b); }));
  CHECK(load(options, folder.path(), 3).score->sha256 == data.score->sha256);
  CHECK(load(options, folder.path(), 4).score->sha256 != data.score->sha256);
  CHECK((data.shared_splits() == std::vector<std::array<std::string, 2>>{{"train", "select"}, {"score", "select"}}));
}

TEST_CASE("a seeded sample is without replacement and every index is as likely", "[data]") {
  std::vector<int> hits(10, 0);
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::vector<int64_t> sample = seeded_sample(10, 3, seed, "x");
    REQUIRE(sample.size() == 3);
    CHECK((sample[0] < sample[1] && sample[1] < sample[2]));
    for (const int64_t index : sample) ++hits[static_cast<size_t>(index)];
  }
  for (const int count : hits) CHECK(std::abs(count - 600) < 100);  // 5 standard deviations
  CHECK(seeded_sample(3, 9, 1, "x") == std::vector<int64_t>{0, 1, 2});
}
