// What is said of the splits, and splits that cannot give a number that means anything.
#include "data/describe.h"

#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

const std::string kThreeRows = "good film\t1\nbad film\t0\nodd film\t0\n";

struct SplitFiles {
  std::string train = kThreeRows, dev = kThreeRows, test = kThreeRows;
};

std::shared_ptr<const DataSource> written_files(const TestFolder& folder, const SplitFiles& files,
                                                const std::string& options) {
  folder.write("train.tsv", files.train);
  folder.write("dev.tsv", files.dev);
  folder.write("test.tsv", files.test);
  return source("type: tsv, path: ." + options, folder.path());
}

Dataset loaded_files(const SplitFiles& files, const std::string& options = "", DataKind kind = DataKind::labelled) {
  const TestFolder folder;
  return written_files(folder, files, options)->load({.seed = 1, .kind = kind});
}

/// "" where it loads.
std::string split_refusal(const SplitFiles& files, const std::string& options = "",
                          DataKind kind = DataKind::labelled) {
  try {
    loaded_files(files, options, kind);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
    return error.what();
  }
  return "";
}

bool split_warns(const Dataset& data, const std::string& text) {
  return std::any_of(data.warnings.begin(), data.warnings.end(),
                     [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("each split is described: labels, lengths, repeated texts, texts of other parts, unknown tokens", "[data]") {
  const Dataset data = loaded_files(
      {.train = "a b c\t1\na b c\t1\na b c\t0\nd\t0\n", .dev = "a b c\t1\nnew e f g\t0\n", .test = "x\t1\ny z\t0\n"});
  REQUIRE(data.summaries.size() == 3);
  const SplitSummary& train = data.summaries[0];
  CHECK(train.roles == std::vector<std::string>{"train", "score"});
  CHECK(train.part == "train");
  CHECK(train.examples == 4);
  CHECK((train.labels == std::vector<std::pair<std::string, int64_t>>{{"0", 2}, {"1", 2}}));
  CHECK(train.texts.median == 4);  // [CLS] counts
  CHECK(train.texts.longest == 4);
  CHECK(train.texts.tokens == 10);
  CHECK(train.texts.unknown == 0);
  CHECK(train.repeated == 2);
  CHECK(train.contradicting == 1);
  const SplitSummary& dev = data.summaries[1];
  CHECK(dev.roles == std::vector<std::string>{"select"});
  CHECK(dev.texts.unknown == 4);
  CHECK(dev.shared.front() == std::pair<std::string, int64_t>{"train", 1});
  CHECK(dev.text() ==
        "select (dev part): 2 examples; labels 0: 1, 1: 1; 5 tokens at the median, 5 at most, unknown 57.1 %; repeated "
        "0 %; 50.0 % also in the train part");
  CHECK(SplitSummary::from_json(dev.to_json()).text() == dev.text());
  CHECK(data.warnings.empty());  // of so few examples
}

TEST_CASE("many texts of another part, contradictions and unknown tokens are warned about", "[data]") {
  std::string train, dev;
  for (int i = 0; i < 20; ++i) {
    train += fmt::format("text {}\t{}\n", i < 3 ? 0 : i, i % 2);
    dev += fmt::format("text {}\t{}\n", i + 15, i % 2);
  }
  const Dataset data = loaded_files({.train = train, .dev = dev, .test = "text 7\t1\ntext 8\t0\n"});
  CHECK(split_warns(data, "select split: 5 of its 20 texts (25 %) stand in the train part too"));
  CHECK(split_warns(data, "select split: 38 % of its tokens are unknown"));
  CHECK(split_warns(data, "train and score split: 1 of its 20 texts stood before with another label"));
  CHECK_FALSE(split_warns(data, "report split"));
}

TEST_CASE("numbers are described by their range, and a sample by what it is", "[data]") {
  const SplitFiles files{.train = "a\t1.5\nb\t-2\nc\t4\n", .dev = "a\t1\nb\t2\n", .test = "a\t1\nc\t2\n"};
  const Dataset data = loaded_files(files, ", limit: {train: 2}", DataKind::numbered);
  REQUIRE(data.summaries.size() == 4);
  CHECK(data.summaries[0].examples == 2);
  CHECK(data.summaries[0].original == 3);
  CHECK_THAT(data.summaries[0].text(), ContainsSubstring("train (train part): 2 examples of its 3"));
  CHECK_THAT(data.summaries[1].text(), ContainsSubstring("numbers from -2 to 4, mean 1.16667"));
}

TEST_CASE("a split whose examples are all to be given the same is refused, with split and value", "[data]") {
  const std::string same = "p\t1\nq\t1\n";
  CHECK_THAT(split_refusal({.test = same}),
             ContainsSubstring("every one of the 2 examples of the report split (the test part) has the label '1'") &&
                 ContainsSubstring("choose another part in data.splits.report"));
  CHECK_THAT(split_refusal({.dev = same}), ContainsSubstring("of the select split (the dev part) has the label '1'"));
  CHECK_THAT(split_refusal({.train = same, .dev = same, .test = same}),
             ContainsSubstring("every label in column '1' is"));
  // data.labels does not make it meaningful.
  CHECK_FALSE(split_refusal({.train = same, .dev = same, .test = same}, ", labels: ['0', '1']").empty());
  CHECK(split_refusal({.dev = "p\t1\n"}).empty());
  CHECK_THAT(split_refusal({.test = "p\t1\n"}), ContainsSubstring("the only example of the report split"));
  const std::string hidden = "p\t-1\nq\t-1\nr\t-1.0\n", numbers = "a\t1\nb\t2\n";
  CHECK_THAT(split_refusal({.train = numbers, .dev = numbers, .test = hidden}, "", DataKind::numbered),
             ContainsSubstring("every one of the 3 examples of the report split (the test part) has the number -1"));
  CHECK_THAT(split_refusal({.test = "p\t-1\nq\t-1\n"}), ContainsSubstring("test.tsv:1: unknown label '-1'"));
}

TEST_CASE("a sample with one label is refused with the limit that draws it", "[data]") {
  std::string train;
  for (int i = 0; i < 40; ++i) train += fmt::format("w{}\t{}\n", i, i == 7 ? 1 : 0);
  CHECK_THAT(split_refusal({.train = train}, ", limit: {score: 3}"),
             ContainsSubstring("of the score split (a sample of the train part) has the label '0'") &&
                 ContainsSubstring("raise data.limit.score"));
}

TEST_CASE("a split of one text is refused", "[data]") {
  CHECK_THAT(split_refusal({.test = "good film\t1\ngood film\t0\n"}),
             ContainsSubstring("every one of the 2 examples of the report split (the test part) has the same text"));
  const TestFolder folder;
  folder.write("text.txt", std::string(1000, 'a'));
  CHECK_THROWS_WITH(load("type: text, path: text.txt, context_length: 9", folder.path()),
                    ContainsSubstring("every token of the train and score split (the train part) is 'a'"));
}
