#include "data/vocabulary.h"
#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

TEST_CASE("text is cut in file order and into windows that predict each token once", "[data]") {
  TestFolder folder;
  folder.write("t.txt", "abcdefghijklmnopqrst");
  const Dataset data =
      load("type: text, path: t.txt, context_length: 4, fractions: {train: 0.5, dev: 0.25, test: 0.25}, unit: byte",
           folder.path());
  CHECK(data.labels.empty());
  const auto ids = [](const std::string& text) {
    std::vector<int64_t> all;
    for (const char c : text) all.push_back(4 + c);
    return all;
  };
  const auto& train = data.train->examples;  // abcdefghij: 9 predicted tokens
  REQUIRE(train.size() == 3);
  CHECK(train[0].tokens == ids("abcd"));
  CHECK(train[0].targets == ids("bcde"));
  CHECK(train[1].tokens == ids("efgh"));
  CHECK(train[2].tokens == ids("i"));
  CHECK(train[2].targets == ids("j"));
  REQUIRE(data.select->examples.size() == 1);
  CHECK(data.select->examples[0].tokens == ids("klmn"));
  CHECK(data.select->examples[0].targets == ids("lmno"));
  CHECK(data.report->examples[0].tokens == ids("pqrs"));
  CHECK(source("type: text, path: t.txt", folder.path())->inputs()[0].path == (folder / "t.txt").string());
}

TEST_CASE("characters of the train part make the vocabulary, others are unknown and counted", "[data]") {
  TestFolder folder;
  folder.write("t.txt", "aäaäaäaäaäaäaäaäaaxyx");
  const Dataset data =
      load("type: text, path: t.txt, fractions: {train: 0.8, dev: 0.2, test: 0}, splits: {report: dev}", folder.path());
  CHECK(data.tokenizer->size() == Vocabulary::kSpecials + 2);
  CHECK(data.train->examples[0].tokens.size() == 16);
  CHECK(data.report->examples[0].targets == std::vector<int64_t>{1, 1, 1});
  REQUIRE(data.warnings.size() == 1);
  CHECK_THAT(data.warnings[0], ContainsSubstring("3 of 4 tokens of the dev part"));
}

TEST_CASE("windows know how many characters and bytes their targets stand for", "[data]") {
  TestFolder folder;
  folder.write("t.txt", "aäaäbäaäaäaäbäaäaaxyx");
  const std::string cut =
      ", path: t.txt, context_length: 4, fractions: {train: 0.8, dev: 0.2, test: 0}, splits: {report: dev}";
  const Dataset characters = load("type: text" + cut, folder.path());
  CHECK(characters.train->examples[0].characters == 4);  // äaäb
  CHECK(characters.train->examples[0].bytes == 6);
  CHECK(characters.report->examples[0].characters == 3);  // unknown ones are characters too
  const Dataset bytes = load("type: text, unit: byte" + cut, folder.path());
  CHECK(bytes.train->examples[0].bytes == 4);
  CHECK(bytes.train->examples[0].characters == 3);  // the second byte of an ä begins no character: C3 A4 a C3
}

TEST_CASE("windows that overlap predict each token once, behind as much text as they can", "[data]") {
  TestFolder folder;
  folder.write("t.txt", "abcdefghijklm");  // 12 predicted tokens
  const auto windows_of = [&](int64_t stride) {
    const Dataset data =
        load(fmt::format("type: text, path: t.txt, unit: byte, context_length: 5, stride: {}, fractions: "
                         "{{train: 1, dev: 0, test: 0}}, splits: {{select: train, report: train}}",
                         stride),
             folder.path());
    std::vector<std::string> windows;
    for (const Example& example : data.train->examples) {
      std::string& text = windows.emplace_back();
      for (const int64_t id : example.tokens) text += static_cast<char>(id - 4);
      text += " ";
      for (const int64_t id : example.targets) text += id == kNoTarget ? '.' : static_cast<char>(id - 4);
      CHECK(example.characters ==
            std::count_if(example.targets.begin(), example.targets.end(), [](int64_t id) { return id != kNoTarget; }));
    }
    return windows;
  };
  CHECK(windows_of(5) == std::vector<std::string>{"abcde bcdef", "fghij ghijk", "kl lm"});
  CHECK(windows_of(2) ==
        std::vector<std::string>{"abcde bcdef", "cdefg ...gh", "efghi ...ij", "ghijk ...kl", "ijkl ...m"});
  CHECK(windows_of(4) == std::vector<std::string>{"abcde bcdef", "efghi .ghij", "ijkl .klm"});
  CHECK_THAT(load_error("type: text, path: t.txt, context_length: 5, stride: 6", folder.path()).second,
             ContainsSubstring("is more than context_length 5"));
}

TEST_CASE("bad text files and fractions are refused", "[data]") {
  TestFolder folder;
  folder.write("bad.txt", "one\ntwo \xFF\n");
  folder.write("t.txt", "abcdefghij");
  const auto [code, sentence] = load_error("type: text, path: bad.txt", folder.path());
  CHECK(code == ExitCode::run_failed);
  CHECK_THAT(sentence, ContainsSubstring((folder / "bad.txt").string() + ":2: invalid UTF-8"));
  CHECK(load_error("type: text, path: none.txt", folder.path()).first == ExitCode::usage);
  CHECK_THROWS_WITH(load("type: text, path: t.txt, fractions: {train: 0.9, dev: 0.2}", folder.path()),
                    ContainsSubstring("add up to more than 1"));
  CHECK_THROWS_WITH(load("type: text, path: t.txt, fractions: {test: 0}", folder.path()),
                    ContainsSubstring("part of t.txt has no examples"));
}

TEST_CASE("a byte order mark and carriage returns are part of the text, and that is said", "[data]") {
  const TestFolder folder;
  std::string text = "\xEF\xBB\xBF";
  for (int i = 0; i < 200; ++i) text += fmt::format("line {}\r\n", i);
  folder.write("text.txt", text);
  const Dataset data = load("type: text, path: text.txt, context_length: 16", folder.path());
  REQUIRE(data.warnings.size() >= 2);
  CHECK_THAT(data.warnings[0], ContainsSubstring("begins with a byte order mark"));
  CHECK_THAT(data.warnings[1], ContainsSubstring("200 carriage returns"));
}
