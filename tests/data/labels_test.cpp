// Which label of the data is which output of a loaded classifier: the rules, one by one, and what is refused.
#include "data/labels.h"

#include "fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

using Words = std::vector<std::string>;

ModelLabels outputs_called(const Words& names) { return {.names = names, .where = "m/config.json"}; }

LabelAnswer settled(const Words& data, const Words& model, const Words& listed = {}, bool trains = false) {
  return settle_labels(
      {.trained = data, .found = data, .listed = listed, .trains = trains, .model = outputs_called(model)});
}

std::string label_refusal(const Words& data, const Words& model, const Words& listed = {}, bool trains = false) {
  try {
    settled(data, model, listed, trains);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
    return error.what();
  }
  return "";
}

/// Rows of three labels as data whose train, dev and test are the same, for a model with these outputs.
Dataset load_for_outputs(const std::string& rows, const Words& model, const std::string& options = "") {
  TestFolder folder;
  for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"}) folder.write(name, rows);
  return source("type: tsv, path: ." + options, folder.path())->load({.seed = 1, .model = outputs_called(model)});
}

}  // namespace

TEST_CASE("labels are paired by name, whatever the order of the outputs", "[data]") {
  const LabelAnswer answer = settled({"a", "b", "c"}, {"c", "a", "b"});
  CHECK(answer.names == Words{"c", "a", "b"});
  CHECK(answer.outputs.at("a") == 1);
  REQUIRE(answer.notes.size() == 3);
  CHECK(answer.notes[0] == "label c of the data is output 0 of the model, c (the same name)");
  CHECK(answer.warning.empty());
}

TEST_CASE("then by name without case and spaces at its ends, then by number", "[data]") {
  const LabelAnswer folded =
      settled({"CONTRADICTION", "entailment ", "\xC2\xA0Neutral"}, {"neutral", "contradiction", "ENTAILMENT"});
  CHECK(folded.outputs.at("CONTRADICTION") == 1);
  CHECK(folded.outputs.at("entailment ") == 2);
  CHECK(folded.outputs.at("\xC2\xA0Neutral") == 0);
  CHECK(folded.names == Words{"\xC2\xA0Neutral", "CONTRADICTION", "entailment "});
  CHECK_THAT(folded.notes[1], ContainsSubstring("the same name but for case and spaces"));
  CHECK(settled({"STRASSE", "Ärger"}, {"ärger", "straße"}).outputs.at("STRASSE") == 1);

  const LabelAnswer numbers = settled({"0.0", "1", "2"}, {"LABEL_2", "label_0", "1.0"});
  CHECK(numbers.names == Words{"2", "0.0", "1"});
  CHECK_THAT(numbers.notes[0],
             ContainsSubstring("label 2 of the data is output 0 of the model, LABEL_2 (the same number)"));
  // A name comes first: here the model's own names are numbers in another order than its outputs.
  CHECK(settled({"0", "1"}, {"1", "0"}).outputs.at("0") == 1);
}

TEST_CASE("numbers from 0 are the numbers of outputs whose names are words, if all are there", "[data]") {
  const LabelAnswer answer = settled({"0", "1"}, {"negative", "positive"});
  CHECK(answer.outputs.at("1") == 1);
  CHECK_THAT(answer.notes[1], ContainsSubstring("output 1 of the model, positive (the number of the output)"));
  // Nothing but their order says so, and files of one task count in several.
  CHECK_THAT(answer.warning, ContainsSubstring("(0 is negative)") && ContainsSubstring("set data.labels"));
  CHECK(settled({"negative", "positive"}, {"positive", "negative"}).warning.empty());
  CHECK_THAT(label_refusal({"1", "2"}, {"negative", "positive"}), ContainsSubstring("data's 1, 2 are left"));
  CHECK_FALSE(label_refusal({"0", "1"}, {"entailment", "neutral", "contradiction"}).empty());
  CHECK_FALSE(label_refusal({"-1", "1"}, {"negative", "positive"}).empty());
  CHECK_FALSE(label_refusal({"0.5", "1"}, {"negative", "positive"}).empty());
}

TEST_CASE("what is left without a partner is refused with both lists and the key", "[data]") {
  const std::string words = label_refusal({"contradiction", "entailment"}, {"LABEL_0", "LABEL_1"});
  CHECK_THAT(words, ContainsSubstring("m/config.json: the model has 2 labels and the data 2, [LABEL_0, "
                                      "LABEL_1] and [contradiction, entailment]"));
  CHECK_THAT(words, ContainsSubstring("set data.labels to the data's labels in the order of the model's outputs"));
  CHECK_THAT(label_refusal({"good", "bad"}, {"bad", "neutral"}),
             ContainsSubstring("of the model's neutral and of the data's "
                               "good are left"));
  // An output that no label of the data is.
  CHECK_THAT(label_refusal({"a", "b"}, {"a", "b", "c"}),
             ContainsSubstring("the model has 3 labels and the data 2, [a, b, c] and [a, b]"));
  // A rule that fits two outputs fits none.
  CHECK_FALSE(label_refusal({"A", "b"}, {"a", "a ", "b"}).empty());
  CHECK_FALSE(label_refusal({"1", "2"}, {"1.0", "LABEL_1", "2"}).empty());
  // Training does not make a guess better: as many labels, and nothing says which is which.
  CHECK_FALSE(label_refusal({"bad", "good"}, {"LABEL_0", "LABEL_1"}, {}, /*trains=*/true).empty());
}

TEST_CASE("data.labels settles it in the order of the outputs, but does not contradict names", "[data]") {
  const LabelAnswer answer = settled({"bad", "good"}, {"LABEL_0", "LABEL_1"}, {"good", "bad"});
  CHECK(answer.outputs.at("good") == 0);
  CHECK_THAT(answer.notes[0],
             ContainsSubstring("label good of the data is output 0 of the model, LABEL_0 (data.labels)"));
  CHECK(settled({"0", "1"}, {"LABEL_0", "LABEL_1"}, {"1", "0"}).outputs.at("1") == 0);
  CHECK_THAT(label_refusal({"bad", "good"}, {"good", "bad"}, {"bad", "good"}),
             ContainsSubstring("in another order than the data's bad, good; set data.labels: [good, bad]"));
  CHECK_THAT(label_refusal({"bad", "good"}, {"GOOD", "BAD"}, {"bad", "good"}),
             ContainsSubstring("set data.labels: [good, bad]"));
  // One that the data lack may be listed.
  CHECK(settled({"a", "b"}, {"x", "a", "b"}, {"none", "a", "b"}).names == Words{"none", "a", "b"});
  CHECK_THAT(label_refusal({"a", "b"}, {"x", "y", "z"}, {"a", "b"}),
             ContainsSubstring("the model has 3 labels, x, y, z, and "
                               "data.labels 2"));
}

TEST_CASE("training starts a classifier for another number of labels, and says so", "[data]") {
  const LabelAnswer answer = settled({"ham", "spam"}, {"a", "b", "c"}, {}, /*trains=*/true);
  CHECK(answer.names == Words{"ham", "spam"});
  CHECK(answer.notes.empty());
  CHECK_THAT(answer.warning, ContainsSubstring("the classifier of m/config.json has 3 labels (a, b, c) and the data 2 "
                                               "(ham, spam): training starts a new one"));
  CHECK(settled({"neg", "neg ", "pos"}, {"pos", "neg"}, {}, /*trains=*/true).warning.empty());  // they pair
}

TEST_CASE("without a classifier labels are those of the train part, sorted, or data.labels", "[data]") {
  CHECK(settled({"a", "b"}, {}).names == Words{"a", "b"});
  CHECK(settled({"a", "b"}, {"LABEL_0"}).names == Words{"a", "b"});  // one output is regression's, refused elsewhere
  CHECK(settled({"a", "b"}, {}, {"b", "a"}).outputs.at("b") == 0);
}

TEST_CASE("examples get the outputs of a loaded classifier, in every part", "[data]") {
  const std::string rows = "w1\tEntailment\nw2\tneutral\nw3\tcontradiction\n";
  const Dataset data = load_for_outputs(rows, {"contradiction", "neutral", "entailment"});
  CHECK(data.labels == Words{"contradiction", "neutral", "Entailment"});
  for (const auto& split : {data.train, data.report}) {
    CHECK(split->examples[0].label == 2);
    CHECK(split->examples[1].label == 1);
    CHECK(split->examples[2].label == 0);
  }
  CHECK(data.label_notes.size() == 3);
  CHECK_THROWS_WITH(load_for_outputs(rows, {"LABEL_0", "LABEL_1", "LABEL_2"}), ContainsSubstring("set data.labels"));
  CHECK(load_for_outputs(rows, {"LABEL_0", "LABEL_1", "LABEL_2"}, ", labels: [neutral, Entailment, contradiction]")
            .report->examples[0]
            .label == 1);
}

TEST_CASE("generated labels follow a loaded classifier's order too", "[data]") {
  const auto synthetic = source("type: synthetic, keys: 4, classes: 2, examples: {train: 50, dev: 20, test: 20}");
  const Dataset plain = synthetic->load({.seed = 1});
  const Dataset turned = synthetic->load({.seed = 1, .model = outputs_called({"1", "0"})});
  CHECK(turned.labels == Words{"1", "0"});
  for (size_t i = 0; i < plain.report->examples.size(); ++i)
    CHECK(turned.report->examples[i].label == 1 - plain.report->examples[i].label);
  CHECK(synthetic->load({.seed = 1, .model = outputs_called({"0", "1"})}).report->sha256 == plain.report->sha256);
}
