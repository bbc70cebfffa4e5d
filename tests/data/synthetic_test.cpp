#include <map>
#include <set>

#include "data/vocabulary.h"
#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

using Tokens = std::vector<int64_t>;

std::multiset<int64_t> counts_of(const Example& example) { return {example.tokens.begin(), example.tokens.end()}; }

/// The rule of the task, from the spelled tokens: the value of the key that is asked for first.
std::string answer(const Dataset& data, const Example& example) {
  const std::string question = data.tokenizer->token(example.tokens.at(1));
  const std::string key = question.substr(0, question.size() - 1) + "=";
  for (const int64_t id : example.tokens)
    if (const std::string& token = data.tokenizer->token(id); token.starts_with(key)) return token.substr(key.size());
  return "";
}

}  // namespace

TEST_CASE("synthetic data follows its rule, and comes from the seed alone", "[data]") {
  const Dataset data = load("type: synthetic, keys: 6, classes: 3, fillers: 5");
  for (const auto& split : {data.train, data.select, data.report})
    for (const Example& example : split->examples) {
      REQUIRE(data.labels.at(static_cast<size_t>(example.label)) == answer(data, example));
      REQUIRE(example.tokens.front() == Vocabulary::kClassification);
      REQUIRE((example.tokens.size() >= 13 && example.tokens.size() <= 18));
    }
  CHECK(data.train->examples.size() == 4000);
  CHECK(load("type: synthetic, keys: 6, classes: 3, fillers: 5").train->sha256 == data.train->sha256);
  CHECK(load("type: synthetic, keys: 6, classes: 3, fillers: 5", "/", 2).train->sha256 != data.train->sha256);
  CHECK(source("type: synthetic")->inputs().empty());
}

TEST_CASE("parts of synthetic data are independent streams and share no sequence", "[data]") {
  const Dataset data = load("type: synthetic");
  const Dataset fewer = load("type: synthetic, examples: {train: 100}");
  CHECK(fewer.report->sha256 == data.report->sha256);
  std::map<Tokens, std::string> home;
  for (const auto& split : {data.train, data.select, data.report})
    for (const Example& example : split->examples)
      REQUIRE(home.emplace(example.tokens, split->name).first->second == split->name);
}

TEST_CASE("labels of synthetic data are balanced", "[data]") {
  const Dataset data = load("type: synthetic");
  std::vector<int> counts(4, 0);
  for (const Example& example : data.train->examples) ++counts[static_cast<size_t>(example.label)];
  for (const int count : counts) CHECK(std::abs(count - 1000) < 140);  // 5 standard deviations
}

TEST_CASE("no bag of words can solve synthetic data", "[data]") {
  // The best that token counts allow is the majority label of each bag. Bags of 4 keys are the 24 assignments of
  // values.
  const Dataset data = load("type: synthetic, examples: {train: 20000}");
  std::map<std::multiset<int64_t>, std::map<int64_t, int>> bags;
  for (const Example& example : data.train->examples) ++bags[counts_of(example)][example.label];
  CHECK(bags.size() == 24);
  int best = 0;
  for (const auto& [bag, labels] : bags) {
    CHECK(labels.size() == 4);
    int most = 0;
    for (const auto& [label, count] : labels) most = std::max(most, count);
    best += most;
  }
  CHECK(best < 20000 * 0.32);  // chance is 0.25

  // Nor do tokens with their positions, one at a time: for every one the labels are near their prior.
  std::map<std::pair<size_t, int64_t>, std::vector<int>> cells;
  for (const Example& example : data.train->examples)
    for (size_t at = 0; at < example.tokens.size(); ++at) {
      auto& cell = cells[{at, example.tokens[at]}];
      cell.resize(4);
      ++cell[static_cast<size_t>(example.label)];
    }
  for (const auto& [cell, labels] : cells) {
    int sum = 0;
    for (const int count : labels) sum += count;
    for (const int count : labels) CHECK(count < 0.40 * sum);
  }
}

TEST_CASE("noise replaces the stated share of labels and nothing else", "[data]") {
  const Dataset clean = load("type: synthetic"), noisy = load("type: synthetic, noise: 0.4");
  int changed = 0;
  for (size_t i = 0; i < clean.train->examples.size(); ++i) {
    REQUIRE(clean.train->examples[i].tokens == noisy.train->examples[i].tokens);
    changed += clean.train->examples[i].label != noisy.train->examples[i].label;
  }
  CHECK(std::abs(changed - 1200) < 150);  // 0.4 x 3 / 4 of 4000, 5 standard deviations
}

TEST_CASE("options of synthetic data that cannot be are refused", "[data]") {
  CHECK_THROWS_WITH(load("type: synthetic, keys: 6, classes: 4"), ContainsSubstring("must divide keys"));
  CHECK_THROWS_WITH(load("type: synthetic, keys: 2, classes: 2"), ContainsSubstring("data.keys"));
  const auto other = std::make_shared<const Vocabulary>(Vocabulary::of({"a"}));
  CHECK_THROWS_WITH(source("type: synthetic")->load({.seed = 1, .tokenizer = other}), ContainsSubstring("vocabulary"));
}

TEST_CASE("for regression the value that is asked for is the number", "[data]") {
  const auto synthetic = source("type: synthetic, examples: {train: 50, dev: 5, test: 5}, noise: 0.2");
  const Dataset labelled = synthetic->load({.seed = 4, .tokenizer = nullptr});
  const Dataset numbered = synthetic->load({.seed = 4, .tokenizer = nullptr, .kind = DataKind::numbered});
  CHECK(labelled.labels.size() == 4);
  CHECK(numbered.labels.empty());
  for (size_t i = 0; i < 50; ++i) {
    const Example &one = labelled.train->examples[i], &other = numbered.train->examples[i];
    CHECK(one.tokens == other.tokens);
    CHECK(other.number == static_cast<double>(one.label));
    CHECK_FALSE(one.number);
  }
}
