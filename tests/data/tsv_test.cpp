// The strict rules of docs/formats.md section 4, one by one, and the files of real data sets in miniature.
#include <set>

#include "data/vocabulary.h"
#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

using Pairs = std::vector<std::array<std::string, 2>>;

const std::string kGood = "good film\t1\nbad film\t0\n";

/// Loads train, dev and test that are all `text`.
Dataset load_text(const std::string& text, const std::string& options = "") {
  TestFolder folder;
  for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"}) folder.write(name, text);
  return load("type: tsv, path: ." + options, folder.path());
}

/// The error for a dev file that is `text`, with the folder cut off.
std::pair<ExitCode, std::string> dev_error(const std::string& text, const std::string& options = "") {
  TestFolder folder;
  folder.write("train.tsv", kGood);
  folder.write("dev.tsv", text);
  folder.write("test.tsv", kGood);
  auto [code, sentence] = load_error("type: tsv, path: ." + options, folder.path());
  const std::string prefix = folder.path().string() + "/";
  if (sentence.starts_with(prefix)) sentence = sentence.substr(prefix.size());
  return {code, sentence};
}

}  // namespace

TEST_CASE("the defaults read sentence TAB label without a header", "[data]") {
  const Dataset data = load_text(kGood);
  CHECK(data.labels == std::vector<std::string>{"0", "1"});
  REQUIRE(data.train->examples.size() == 2);
  CHECK(spell(data, data.train->examples[0]) == "[CLS] good film");
  CHECK(data.train->examples[0].label == 1);
  CHECK(data.train->examples[1].label == 0);
  CHECK(data.train == data.score);
  CHECK(data.report->name == "test");
  CHECK(data.shared_splits().empty());
  CHECK(data.train->sha256.size() == 64);
}

TEST_CASE("CRLF, a byte order mark, a missing last newline and empty lines at the end change nothing", "[data]") {
  const Dataset plain = load_text(kGood);
  for (const std::string text : {"good film\t1\r\nbad film\t0\r\n", "\xEF\xBB\xBFgood film\t1\nbad film\t0\n",
                                 "good film\t1\nbad film\t0", "good film\t1\nbad film\t0\n\n\r\n"}) {
    INFO(text);
    CHECK(load_text(text).train->sha256 == plain.train->sha256);
  }
}

TEST_CASE("quotation marks and backslashes are data", "[data]") {
  const Dataset data = load_text("a \"quoted word\t0\n\"b\\t\" it's\t1\n");
  CHECK(spell(data, data.train->examples[0]) == "[CLS] a \"quoted word");
  CHECK(spell(data, data.train->examples[1]) == "[CLS] \"b\\t\" it's");
}

TEST_CASE("each malformed line is named by file and line", "[data]") {
  const std::pair<std::string, std::string> bad[] = {
      {"good\t1\nno label\n", "dev.tsv:2: 1 columns where the first line has 2"},
      {"good\t1\na\tb\t1\n", "dev.tsv:2: 3 columns where the first line has 2"},
      {"good\t1\n\nbad\t0\n", "dev.tsv:2: empty line"},
      {"\ngood\t1\n", "dev.tsv:1: empty line"},
      {"good\t1\nbad\t0\nx\xFFy\t1\n", "dev.tsv:3: invalid UTF-8 at byte 2"},
      {"good\t1\nbad\t2\n", "dev.tsv:2: unknown label '2'; the train part has 0, 1"},
      {"good\t1\nbad\t0 \n", "dev.tsv:2: unknown label '0 '"},
      {"good\t1\nbad\t\n", "dev.tsv:2: empty label"},
      {"", "dev.tsv:1: no examples"},
      {"only text\n", "dev.tsv:1: no column 1; the 1 columns are numbered from 0"}};
  for (const auto& [text, message] : bad) {
    INFO(text);
    const auto [code, sentence] = dev_error(text);
    CHECK(code == ExitCode::run_failed);
    CHECK_THAT(sentence, ContainsSubstring(message));
    CHECK(sentence.starts_with("dev.tsv:"));
  }
}

TEST_CASE("two sentences with a header are joined by a separator, columns by name", "[data]") {
  const std::string rte =
      "sentence1\tsentence2\tlabel\tidx\nDana died of cancer.\tDana had an accident.\t1\t0\nA\tB b\t0\t1\n";
  const std::string options = ", header: true, text: [sentence1, sentence2], label: label";
  const Dataset data = load_text(rte, options);
  REQUIRE(data.train->examples.size() == 2);
  CHECK(spell(data, data.train->examples[0]) == "[CLS] Dana died of cancer. [SEP] Dana had an accident.");
  CHECK(spell(data, data.train->examples[1]) == "[CLS] A [SEP] B b");
  CHECK(data.train->examples[0].label == 1);
  // By number the same.
  CHECK(load_text(rte, ", header: true, text: [0, 1], label: 2").train->sha256 == data.train->sha256);
  CHECK_THROWS_WITH(load_text(rte, ", header: true, text: [sentence3], label: label"),
                    ContainsSubstring("train.tsv:1: no column 'sentence3'; the header has: sentence1, sentence2"));
  CHECK_THROWS_WITH(load_text(kGood, ", text: [sentence]"), ContainsSubstring("set data.header: true"));
  CHECK_THROWS_WITH(load_text("text\tlabel\n", ", header: true"), ContainsSubstring("train.tsv:2: no examples"));
}

TEST_CASE("labels may be listed, in the order of the outputs", "[data]") {
  const Dataset data = load_text(kGood, ", labels: ['1', '0']");
  CHECK(data.train->examples[0].label == 0);
  CHECK_THROWS_WITH(load_text(kGood, ", labels: ['1', '2']"),
                    ContainsSubstring("train.tsv:2: unknown label '0'; data.labels has 1, 2"));
  CHECK_THROWS_WITH(load_text("a\t1\nb\t1\n"), ContainsSubstring("every label"));
  CHECK_THROWS_WITH(load_text(kGood, ", labels: ['1', '1']"), ContainsSubstring("listed twice"));
}

TEST_CASE("the vocabulary comes from the train part alone and unknown words are kept as unknown", "[data]") {
  TestFolder folder;
  folder.write("train.tsv", kGood);
  folder.write("dev.tsv", "new film\t1\n");
  folder.write("test.tsv", kGood);
  const Dataset data = load("type: tsv, path: .", folder.path());
  CHECK(data.tokenizer->size() == Vocabulary::kSpecials + 3);
  CHECK(data.select->examples[0].tokens == std::vector<int64_t>{2, 1, 4});
  const Dataset small = load("type: tsv, path: ., vocabulary_size: 5", folder.path());
  CHECK(small.tokenizer->size() == 5);
  CHECK(spell(small, small.train->examples[0]) == "[CLS] [UNK] film");
}

TEST_CASE("without a limit every word of the train part has an id of its own", "[data]") {
  // Long lines, as in rte: their words are counted out of heap memory.
  std::string text;
  std::set<std::string> words;
  for (int line = 0; line < 50; ++line) {
    for (int k = 0; k < 100; ++k) {
      const std::string word = fmt::format("w{}", (line * 37 + k * k) % 900);
      words.insert(word);
      text += (k > 0 ? " " : "") + word;
    }
    text += fmt::format("\t{}\n", line % 2);
  }
  for (const char* lower : {"false", "true"}) {
    const Dataset data = load_text(text, fmt::format(", lower_case: {}", lower));
    CHECK(data.tokenizer->size() == Vocabulary::kSpecials + static_cast<int64_t>(words.size()));
    for (const Example& example : data.train->examples)
      CHECK(std::count(example.tokens.begin(), example.tokens.end(), Vocabulary::kUnknown) == 0);
  }
}

TEST_CASE("characters, bytes and lower case", "[data]") {
  const std::string text = "ÄB\t0\nb\t1\n";
  const Dataset characters = load_text(text, ", unit: character, lower_case: true");
  CHECK(spell(characters, characters.train->examples[0]) == "[CLS] ä b");
  const Dataset bytes = load_text(text, ", unit: byte");
  CHECK(spell(bytes, bytes.train->examples[0]) == "[CLS] <0xC3> <0x84> <0x42>");
  CHECK(load_text("A a\t0\nb\t1\n", ", lower_case: true").tokenizer->size() == Vocabulary::kSpecials + 2);
}

TEST_CASE("max_length cuts the end, of two texts the longer one first, and says how many", "[data]") {
  const Dataset one = load_text("a b c d e\t0\nf\t1\n", ", max_length: 4");
  CHECK(spell(one, one.train->examples[0]) == "[CLS] a b c");
  REQUIRE_FALSE(one.warnings.empty());
  CHECK_THAT(one.warnings[0], ContainsSubstring("1 of 2 train examples are longer than data.max_length 4"));
  const Dataset two = load_text("a b c d\tx y\t0\nf\tg\t1\n", ", text: [0, 1], label: 2, max_length: 6");
  CHECK(spell(two, two.train->examples[0]) == "[CLS] a b [SEP] x y");
  const Dataset second = load_text("a\tx y z w\t0\nf\tg\t1\n", ", text: [0, 1], label: 2, max_length: 4");
  CHECK(spell(second, second.train->examples[0]) == "[CLS] a [SEP] x");
}

TEST_CASE("a loaded model's vocabulary is used, and a different unit refused", "[data]") {
  TestFolder folder;
  for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"}) folder.write(name, kGood);
  const auto words = std::make_shared<const Vocabulary>(Vocabulary::of({"film", "other"}));
  const Dataset data = source("type: tsv, path: .", folder.path())->load({.seed = 1, .tokenizer = words});
  CHECK(data.tokenizer == words);
  CHECK(spell(data, data.train->examples[0]) == "[CLS] [UNK] film");
  CHECK_THROWS_WITH(source("type: tsv, path: ., unit: byte", folder.path())->load({.seed = 1, .tokenizer = words}),
                    ContainsSubstring("set data.unit: word"));
}

TEST_CASE("a missing part is a usage error that says what can be done", "[data]") {
  TestFolder folder;
  folder.write("train.tsv", kGood);
  folder.write("dev.tsv", kGood);
  const auto [code, sentence] = load_error("type: tsv, path: .", folder.path());
  CHECK(code == ExitCode::usage);
  CHECK_THAT(sentence, ContainsSubstring((folder / "test.tsv").string()) && ContainsSubstring("data.cut.test"));
  CHECK_THROWS_WITH(source("type: tsv, path: .", folder.path())->inputs(), ContainsSubstring("no file for the test"));
  CHECK_THROWS_WITH(load("type: tsv, path: nowhere", folder.path()), ContainsSubstring("nowhere"));

  const auto shared = source("type: tsv, path: ., splits: {report: dev}", folder.path());
  const std::vector<InputFile> files = shared->inputs();
  REQUIRE(files.size() == 2);
  CHECK(files[0].role == "data.train");
  CHECK(files[1].path == (folder / "dev.tsv").string());
  CHECK((shared->load({.seed = 1, .tokenizer = nullptr}).shared_splits() == Pairs{{"select", "report"}}));
}

TEST_CASE("file names of the parts can be given, or one file that is the train part", "[data]") {
  TestFolder folder;
  folder.write("a.txt", kGood);
  folder.write("b.txt", kGood);
  const Dataset named =
      load("type: tsv, path: ., files: {train: a.txt, dev: b.txt}, splits: {report: dev}", folder.path());
  CHECK(named.train->examples.size() == 2);
  std::string twenty;
  for (int i = 0; i < 20; ++i) twenty += fmt::format("word{}\t{}\n", i, i % 2);
  folder.write("all.tsv", twenty);
  const Dataset one =
      load("type: tsv, path: all.tsv, cut: {dev: {from: train, fraction: 0.2}, test: {from: train, fraction: 0.3}}",
           folder.path());
  CHECK(one.name == "all.tsv");
  CHECK(one.train->examples.size() == 10);
  CHECK(one.select->examples.size() == 4);
  CHECK(one.report->examples.size() == 6);
}

TEST_CASE("for regression the label column holds numbers, and text that is none is named by file and line", "[data]") {
  const auto load_numbers = [](const std::string& text, const std::string& options = "") {
    TestFolder folder;
    for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"}) folder.write(name, text);
    return source("type: tsv, path: ." + options, folder.path())
        ->load({.seed = 1, .tokenizer = nullptr, .kind = DataKind::numbered});
  };
  const Dataset data = load_numbers("good film\t4.25\nbad film\t-1e-1\nfilm\t3\n");
  CHECK(data.kind == DataKind::numbered);
  CHECK(data.labels.empty());
  CHECK(spell(data, data.train->examples[0]) == "[CLS] good film");
  CHECK(data.train->examples[0].number == 4.25);
  CHECK(data.train->examples[1].number == -0.1);
  CHECK(data.train->examples[0].label == -1);
  CHECK(data.train->sha256 != load_numbers("good film\t4.26\nbad film\t-1e-1\nfilm\t3\n").train->sha256);
  for (const char* bad : {"high", "1,5", "nan", "inf", " 1", "1 ", "0x10", "1e999"}) {
    INFO(bad);
    CHECK_THROWS_WITH(load_numbers(fmt::format("good\t1\nbad\t{}\n", bad)),
                      ContainsSubstring(fmt::format("train.tsv:2: '{}' in column '1' is not a number", bad)));
  }
  CHECK_THROWS_WITH(load_numbers("good\t1\nbad\t1\n"), ContainsSubstring("every number in column '1' is the same"));
  CHECK_THROWS_WITH(load_numbers("good\t1\nbad\t2\n", ", labels: ['1', '2']"),
                    ContainsSubstring("data.labels is for classification"));
}

TEST_CASE("columns of one name, and a name that is another column's number, are refused", "[data]") {
  const auto error = [](const std::string& header, const std::string& options) {
    const TestFolder folder;
    for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"}) folder.write(name, header + "a\tb\t1\nc\td\t0\n");
    return load_error("type: tsv, path: ., header: true" + options, folder.path()).second;
  };
  CHECK_THAT(error("text\ttext\tlabel\n", ", text: [text], label: label"),
             ContainsSubstring("train.tsv:1: columns 0 and 1 have one name, 'text'; rename one of them"));
  CHECK_THAT(error("1\t0\tlabel\n", ", text: ['0'], label: label"),
             ContainsSubstring("train.tsv:1: '0' is the name of column 1 and the number of another"));
  CHECK(error("0\t1\tlabel\n", ", text: ['0'], label: label") == "no error");
  CHECK_THAT(error("\"text\"\t\"other\"\t\"label\"\n", ", text: [text], label: label"),
             ContainsSubstring("set data.quoting: csv"));
}

TEST_CASE("quoted cells are read as RFC 4180 has them", "[data]") {
  const std::string csv = ", quoting: csv";
  const Dataset data = load_text("\"He said \"\"no\"\".\"\t1\r\n\"a\tb\nc\"\t\"0\"\r\nplain\t1\n\"\"\t0\n", csv);
  CHECK(data.labels == std::vector<std::string>{"0", "1"});
  CHECK(spell(data, data.train->examples[0]) == "[CLS] He said \"no\".");
  CHECK(spell(data, data.train->examples[1]) == "[CLS] a b c");
  CHECK(spell(data, data.train->examples[2]) == "[CLS] plain");
  CHECK(spell(data, data.train->examples[3]) == "[CLS]");
  const std::pair<std::string, std::string> bad[] = {
      {"good\t1\n5\" disk\t0\n", "dev.tsv:2: a quotation mark inside a cell that does not begin with one"},
      {"good\t1\n\"a\" b\t0\n", "dev.tsv:2: text follows the quotation mark that ends a cell"},
      {"good\t1\n\"a\t0\nb\t1\n", "dev.tsv:2: the quotation mark that begins a cell is never closed"},
      {"\"a\nb\"\t1\nbad\t2\n", "dev.tsv:3: unknown label '2'"},
      {"good\t1\n\"a\tb\"\n", "dev.tsv:2: 1 columns where the first line has 2"}};
  for (const auto& [text, message] : bad) {
    INFO(text);
    CHECK_THAT(dev_error(text, csv).second, ContainsSubstring(message));
  }
  // Without it a cell that holds a tab is refused with the way to read it.
  CHECK_THAT(dev_error("good\t1\n\"a\tb\"\t0\n").second,
             ContainsSubstring("3 columns where the first line has 2") && ContainsSubstring("data.quoting: csv"));
}
