// Warnings about what in a file is most likely not what its owner means.
#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// `count` rows "text I<separator>LABEL" with labels a, b in turn.
std::string plain_rows(int count, int from = 0, const std::string& labels = "ab") {
  std::string text;
  for (int i = from; i < from + count; ++i)
    text += fmt::format("some text {}\t{}\n", i, labels[static_cast<size_t>(i) % 2]);
  return text;
}

/// Warnings about train, dev and test that begin as `train`; the others are plain.
std::vector<std::string> warnings_of(const std::string& train, const std::string& options = "",
                                     DataKind kind = DataKind::labelled, const std::string& dev = "") {
  const TestFolder folder;
  folder.write("train.tsv", train);
  folder.write("dev.tsv", dev);
  const bool has_dev = !dev.empty();
  return source("type: tsv, path: ., splits: {select: " + std::string(has_dev ? "dev" : "train") + ", report: train}" +
                    options,
                folder.path())
      ->load({.seed = 1, .kind = kind})
      .warnings;
}

bool says(const std::vector<std::string>& all, const std::string& text) {
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("plain data are not warned about", "[data]") { CHECK(warnings_of(plain_rows(40)).empty()); }

TEST_CASE("a label that stands on line 1 alone may be the name of a column", "[data]") {
  const auto forgotten = warnings_of("sentence\tlabel\n" + plain_rows(40));
  CHECK(says(forgotten,
             "train.tsv:1: the label 'label' stands on this line alone: if the line names the columns, set "
             "data.header: true"));
  CHECK(says(warnings_of("text\tlabel\nx\ta\ny\tb\nz\ta\nw\tb\n"), "data.header: true"));
  CHECK_FALSE(says(warnings_of("x\ta\ny\tb\n"), "data.header"));
  // And the other way about.
  CHECK(says(warnings_of("first text\ta\n" + plain_rows(40), ", header: true, text: [0], label: 1"),
             "train.tsv:1: 'a', taken for the name of a column, is also a label"));
  const TestFolder folder;
  folder.write("train.tsv", "sentence\tscore\na\t1\nb\t2\n");
  CHECK_THROWS_WITH(
      source("type: tsv, path: ., splits: {select: train, report: train}", folder.path())
          ->load({.seed = 1, .kind = DataKind::numbered}),
      ContainsSubstring("'score' in column '1' is not a number") && ContainsSubstring("set data.header: true"));
}

TEST_CASE("spellings of one label are named", "[data]") {
  const auto found = warnings_of(plain_rows(40) + "x\ta \ny\tA\nz\tb\n");
  CHECK(says(found, "labels with spaces at their ends: 'a '"));
  CHECK(says(found, "labels 'A', 'a', 'a ' differ in case, spaces or digits alone and count as 3 labels"));
  CHECK(says(warnings_of("x\t1\ny\t1.0\nz\t0\nw\t0\n"), "labels '1', '1.0' differ"));
  const TestFolder folder;
  folder.write("train.tsv", plain_rows(40) + "x\ta \n");
  const Dataset data = source("type: tsv, path: ., splits: {select: train, report: train}", folder.path())
                           ->load({.seed = 1, .model = {.names = {"B", "A"}, .where = "m"}});
  CHECK(data.labels.size() == 2);
  CHECK(says(data.warnings, "labels 'a', 'a ' differ in case, spaces or digits alone and count as one label"));
}

TEST_CASE("labels that stand for nothing, hardly occur or never do are named", "[data]") {
  CHECK(says(warnings_of(plain_rows(40) + "x\tNaN\ny\tNaN\nz\tNaN\n"),
             "label 'NaN' is what some tools write for a missing one"));
  CHECK(says(warnings_of("x\t-1\ny\t0\nz\t1\n"), "label '-1'"));
  CHECK_FALSE(says(warnings_of("x\t-1\ny\t1\n"), "label '-1'"));
  CHECK(says(warnings_of(plain_rows(40) + "x\tc\n"),
             "labels that hardly occur among its 41 examples: 'c' (1, first on line 41)"));
  CHECK(says(warnings_of(plain_rows(40), ", labels: [a, b, c]"), "no example has the label 'c'"));
  std::string numbers;
  for (int i = 0; i < 40; ++i) numbers += fmt::format("text {}\t{}\n", i, i);
  CHECK(says(warnings_of(numbers),
             "40 labels for 40 examples: is data.label the right column, or task regression meant?"));
  const TestFolder folder;
  folder.write("train.tsv", "x\t \ny\t1\n");
  CHECK_THROWS_WITH(load("type: tsv, path: ., splits: {select: train, report: train}", folder.path()),
                    ContainsSubstring("train.tsv:1: empty label"));
}

TEST_CASE("one negative number among others that are none may stand for a missing one", "[data]") {
  CHECK(says(warnings_of("x\t1\ny\t-1\nz\t2\nw\t-1.0\n", "", DataKind::numbered),
             "train.tsv: 2 of 4 examples have the number -1, and no other is below 0"));
  CHECK(warnings_of("x\t1\ny\t-1\nz\t2\nw\t-2\nv\t-1\n", "", DataKind::numbered).empty());
}

TEST_CASE("columns that nothing reads are named, above all texts among them", "[data]") {
  std::string cola;
  for (int i = 0; i < 40; ++i)
    cola += fmt::format("gj{:02}\t{}\t{}\tOur friends won't buy this analysis, let alone number {}.\n", i % 3, i % 2,
                        i % 2 ? "" : "*", i);
  const auto found = warnings_of(cola);
  CHECK(says(found,
             "train.tsv: columns 2, 3 are not used (data.text, data.label); column 3 has longer texts ('Our "
             "friends won't buy this analysis, let...') than 0 ('gj00'): is data.text the right column?"));
  CHECK(says(found, "the 40 rows have only 3 different texts in column 0"));
  CHECK(says(warnings_of(cola, ", text: [3]"), "columns 0, 2 are not used (data.text, data.label)"));
  CHECK_FALSE(says(warnings_of(cola, ", text: [3]"), "right column"));
  std::string index;
  for (int i = 0; i < 40; ++i) index += fmt::format("{}\t{}\ta text of some words {}\n", i, i % 2, i);
  CHECK(says(warnings_of(index), "every text in column 0 is a number"));
  const TestFolder folder;
  folder.write("train.tsv", plain_rows(4));
  const auto [code, sentence] =
      load_error("type: tsv, path: ., splits: {select: train, report: train}, text: [1]", folder.path());
  CHECK(code == ExitCode::usage);
  CHECK_THAT(sentence, ContainsSubstring("the label would stand in the text"));
}

TEST_CASE("files whose columns differ are named", "[data]") {
  const std::string train = "text\tlabel\tother\na b\t1\tq\nc\t0\tr\n",
                    dev = "other\ttext\tlabel\nq\te f\t1\nr\tg\t0\n";
  CHECK(says(warnings_of(train, ", header: true, text: [0], label: 1, labels: ['0', '1', 'e f', 'g']",
                         DataKind::labelled, dev),
             "dev.tsv has 'other' where train.tsv has 'text': name the columns"));
  CHECK_FALSE(says(warnings_of(train, ", header: true, text: [text], label: label", DataKind::labelled, dev),
                   "where train.tsv has"));
  CHECK(says(warnings_of(plain_rows(4), "", DataKind::labelled, "x\ta\tq\ny\tb\tr\n"),
             "dev.tsv has 3 columns and train.tsv has 2"));
}

TEST_CASE("cells in quotation marks are named", "[data]") {
  const auto quoted = warnings_of(plain_rows(40) + "\"He said \"\"no\"\".\"\ta\n");
  CHECK(says(quoted,
             "train.tsv: 1 of 41 texts and 0 labels stand in quotation marks, marks inside doubled (line 41), "
             "which count as part of them; where a tool quoted the cells, set data.quoting: csv"));
  CHECK(says(warnings_of("x y\t\"a\"\nz w\t\"b\"\n"), "2 labels stand in quotation marks"));
  CHECK(warnings_of(plain_rows(40) + "\"A whole sentence that is speech.\"\ta\n\"a\" and \"b\"\tb\n").empty());
  CHECK(warnings_of(plain_rows(40) + "\"He said \"\"no\"\".\"\ta\n", ", quoting: csv").empty());
}
