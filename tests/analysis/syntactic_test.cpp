// Heads that find governors: planted ones, plain loops over pieces and words, and what is left out.
#include <fmt/format.h>

#include "analysis/support.h"
#include "analysis/treebank.h"
#include "core/error.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// 40 sentences "a b c d": b governs a (nsubj), c governs d (obj, one word further), b is the root, c its xcomp.
std::string treebank() {
  std::string text;
  const auto word = [&](int id, const char* form, int head, const char* relation) {
    text += fmt::format("{}\t{}\t_\t_\t_\t_\t{}\t{}\t_\t_\n", id, form, head, relation);
  };
  for (int sentence = 0; sentence < 40; ++sentence) {
    word(1, sentence % 3 == 0 ? "e" : "a", 2, "nsubj");
    word(2, "b", 0, "root");
    word(3, "c", 2, "xcomp");
    word(4, sentence % 2 == 0 ? "d" : "f", 3, "obj:x");
    text += "\n";
  }
  return text;
}

AnalysisResult found(const TestFolder& folder, TransformerModel& model, const std::string& options = "") {
  const std::string path = (folder / "t.conllu").string();
  const std::vector<Example> texts = make_subject(Kind::encoder, torch::kFloat64).examples;
  return analyse("{syntactic: {conllu: '" + path + "', min_instances: 30" + options + "}}", model, texts);
}

}  // namespace

TEST_CASE("planted heads find governors and dependents where the best offset does not", "[analysis][syntactic]") {
  const TestFolder folder;
  folder.write("t.conllu", treebank());
  const auto model = planted({{Plant::next, Plant::previous, Plant::uniform}}, Architecture::encoder);
  // Each relation has one distance: a head that finds it is as good as the offset, and no better.
  const AnalysisResult plain = found(folder, *model);
  CHECK(plain.roles.empty());
  CHECK(column(plain, "nsubj_to_head").values[0][0].item<double>() == 1);
  CHECK(column(plain, "nsubj_to_head").values[0][1].item<double>() == 0);  // it looks at [CLS], which is no word
  CHECK(column(plain, "obj_to_head").values[0][1].item<double>() == 1);
  CHECK(column(plain, "obj_to_dependent").values[0][0].item<double>() == 1);
  CHECK(column(plain, "xcomp_to_head").values[0][2].item<double>() == 0);  // all alike: no largest weight
  CHECK(plain.examples == 40);
  // Against offsets that do not fit, it has the role.
  const AnalysisResult role = found(folder, *model, ", offsets: [3], control: false");
  CHECK(role_texts(role, model->blocks()) ==
        std::vector<std::string>{"encoder.L0.H0 syntactic: nsubj to head",
                                 "encoder.L0.H1 syntactic: nsubj to dependent", "encoder.L0.H1 syntactic: obj to head",
                                 "encoder.L0.H0 syntactic: obj to dependent", "encoder.L0.H1 syntactic: xcomp to head",
                                 "encoder.L0.H0 syntactic: xcomp to dependent"});
  REQUIRE(role.roles.front().evidence);
  CHECK(role.roles.front().evidence->value == 1);
  CHECK(role.roles.front().evidence->n == 20);  // the sentences of odd index
  REQUIRE(role.tables.size() == 1);
  REQUIRE(role.tables[0].rows.size() == 6);
  const std::vector<Json>& row = role.tables[0].rows[1];
  CHECK(row[0] == "nsubj");
  CHECK(row[1] == "to dependent");
  CHECK(row[2] == "encoder.L0.H1");
  CHECK(row[3] == 1.0);
  CHECK(row[7] == 0.0);             // offset +3 finds none
  CHECK(row[8].get<double>() < 1);  // rows permuted
  CHECK(row[9].is_null());
  CHECK_FALSE(plain.tables[0].rows[0][9].is_null());
}

TEST_CASE("relations with too few instances are left out, and none left is said", "[analysis][syntactic]") {
  const TestFolder folder;
  folder.write("t.conllu", treebank());
  const auto model = planted({{Plant::next}}, Architecture::encoder);
  const AnalysisResult result = analyse("{syntactic: {conllu: '" + (folder / "t.conllu").string() + "'}}", *model,
                                        make_subject(Kind::encoder, torch::kFloat64).examples);
  CHECK(result.columns.empty());
  REQUIRE(result.notes.size() == 2);
  CHECK(result.notes[1] == "no relation has 100 instances");
}

TEST_CASE("a decoder is asked for what stands before the word alone", "[analysis][syntactic]") {
  const TestFolder folder;
  folder.write("t.conllu", treebank());
  const auto model = planted({{Plant::previous}}, Architecture::decoder);
  const AnalysisResult result = found(folder, *model, ", control: false");
  const HeadColumn& to_dependent = column(result, "nsubj_to_dependent");
  CHECK(to_dependent.n[0] == 40);
  CHECK(to_dependent.values[0][0].item<double>() == 1);
  CHECK_FALSE(column(result, "nsubj_to_head").values[0].defined());  // the governor follows
}

TEST_CASE("to a word attention is summed over its pieces, from a word it is the mean", "[analysis][syntactic]") {
  const torch::Tensor weights = torch::rand({2, 3, 5, 5}, torch::kFloat64);  // [B, H, T, S]
  const TreebankSentence first{{{}, {}, {}}, {{1}, {2, 3}, {}}}, second{{{}}, {{4}}};
  const torch::Tensor words = word_attention(weights, {&first, &second});  // [B, H, W, W]
  CHECK(words.sizes() == torch::IntArrayRef{2, 3, 3, 3});
  for (int64_t h = 0; h < 3; ++h) {
    const auto w = [&](int64_t b, int64_t q, int64_t k) { return weights.index({b, h, q, k}).item<double>(); };
    const auto found_at = [&](int64_t b, int64_t q, int64_t k) { return words.index({b, h, q, k}).item<double>(); };
    CHECK(found_at(0, 0, 1) == Approx(w(0, 1, 2) + w(0, 1, 3)));
    CHECK(found_at(0, 1, 0) == Approx((w(0, 2, 1) + w(0, 3, 1)) / 2));
    CHECK(found_at(0, 1, 1) == Approx((w(0, 2, 2) + w(0, 2, 3) + w(0, 3, 2) + w(0, 3, 3)) / 2));
    CHECK(found_at(0, 2, 0) == 0);
    CHECK(found_at(0, 0, 2) == 0);
    CHECK(found_at(1, 0, 0) == Approx(w(1, 4, 4)));
    CHECK(found_at(1, 1, 1) == 0);
  }
}

TEST_CASE("sentences that do not fit are left out and counted; none left is refused", "[analysis][syntactic]") {
  const TestFolder folder;
  std::string longer = treebank();
  for (int id = 1; id <= 30; ++id) longer += fmt::format("{}\ta\t_\t_\t_\t_\t{}\tdep\t_\t_\n", id, id == 1 ? 0 : 1);
  folder.write("t.conllu", longer + "\n");
  const auto model = planted({{Plant::next}}, Architecture::encoder);
  const AnalysisResult result = found(folder, *model, ", control: false");
  CHECK(result.examples == 40);
  CHECK_THAT(result.notes[0], ContainsSubstring("40 sentences of t.conllu, 0 % of the tokens unknown"));
  CHECK_THAT(result.notes[0], ContainsSubstring("1 left out, too long for the model"));
  folder.write("t.conllu", longer.substr(treebank().size()));
  CHECK_THROWS_WITH(found(folder, *model), ContainsSubstring("no sentence can be used: 1 are longer"));
}
