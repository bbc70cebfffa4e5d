// Attention to earlier occurrences and to content words: plain loops over pairs, planted heads, treebanks, refusals.
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "analysis/support.h"
#include "core/error.h"
#include "core/text.h"
#include "data/vocabulary.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::test;

namespace {

const std::array<const char*, 4> kNames = {"to_earlier_same", "same_above_others", "to_content",
                                           "content_above_others"};

/// What the definitions say of one text and one head. `same`: equal for the same content word, -1 for another word, -2
/// for what is no word.
struct PairLoops {
  std::vector<int64_t> same;
  std::function<bool(int64_t, int64_t)> visible;
  std::function<double(int64_t, int64_t)> weight;

  int64_t size() const { return std::ssize(same); }
  int64_t key(int64_t at) const { return same[static_cast<size_t>(at)]; }
  bool equal(int64_t i, int64_t j) const { return j < i && key(i) >= 0 && key(i) == key(j) && visible(i, j); }
  bool unequal(int64_t i, int64_t j) const {
    return j < i && key(i) >= 0 && key(j) >= 0 && key(i) != key(j) && visible(i, j);
  }
  bool content(int64_t i, int64_t j) const { return i != j && key(i) > -2 && key(j) >= 0 && visible(i, j); }
  bool other(int64_t i, int64_t j) const { return i != j && key(i) > -2 && key(j) == -1 && visible(i, j); }

  using Is = bool (PairLoops::*)(int64_t, int64_t) const;
  /// Mean of those at a distance; nothing without any.
  std::optional<double> mean_at(int64_t distance, Is is) const {
    double sum = 0, count = 0;
    for (int64_t j = 0; j < size(); ++j)
      if (const int64_t i = j + distance; i >= 0 && i < size() && (this->*is)(i, j)) sum += weight(i, j), ++count;
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }
  /// Adds the sums of the four columns and what they are of.
  void add(std::array<double, 4>& sums, std::array<double, 4>& counts) const {
    for (int64_t i = 0; i < size(); ++i) {
      bool asks = false;
      for (int64_t j = 0; j < size(); ++j) {
        if (equal(i, j))
          if (const auto mean = mean_at(i - j, &PairLoops::unequal)) {
            sums[0] += weight(i, j), ++counts[0];
            sums[1] += weight(i, j) - *mean, ++counts[1];
          }
        if (!content(i, j)) continue;
        asks = true;
        sums[2] += weight(i, j);
        if (const auto mean = mean_at(i - j, &PairLoops::other)) sums[3] += weight(i, j) - *mean, ++counts[3];
      }
      counts[2] += asks ? 1 : 0;
    }
  }
};

}  // namespace

TEST_CASE("semantic equals plain loops over pairs of tokens", "[analysis][semantic]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    CAPTURE(to_string(kind));
    Subject subject = make_subject(kind, torch::kFloat64);
    for (const std::vector<int64_t>& ids : std::vector<std::vector<int64_t>>{
             {5, 6, 5, 7, 6, 4, 5}, {4, 4, 8, 9, 8, 9, 10}, {6, 6, 6, 6}, {9, 4, 9, 5, 1, 1, 4}})
      subject.examples.push_back(text_of(ids, false));
    if (kind == Kind::decoder)
      for (Example& example : subject.examples) example.targets.resize(example.tokens.size(), kNoTarget);
    std::map<int64_t, int64_t> frequency;
    for (const Example& example : subject.examples)
      for (const int64_t id : example.tokens) ++frequency[id];
    const auto eligible = [](int64_t id) {
      return id != Vocabulary::kClassification && id != Vocabulary::kSeparator && id != Vocabulary::kUnknown &&
             id != 10;  // "."
    };
    int64_t most = 0;
    for (const auto& [id, count] : frequency)
      if (eligible(id)) most = std::max(most, count);
    const AnalysisResult result = analyse("{semantic: {frequent: 1}}", *subject.model, subject.examples);
    const FrozenModel frozen(*subject.model);
    const torch::NoGradGuard no_gradients;
    for (size_t b = 0; b < subject.model->blocks().size(); ++b)
      for (int64_t h = 0; h < 3; ++h) {
        std::array<double, 4> sums = {}, counts = {};
        for (const Batch& text : batches_of(subject.examples, 1)) {
          const HeadTrace seen = subject.model->forward(text, {.gates = {}, .weights = true}).heads;
          PairLoops loops{.same = {},
                          .visible = [&](int64_t i, int64_t j) { return kind == Kind::encoder || j <= i; },
                          .weight =
                              [&](int64_t i, int64_t j) {
                                return seen.weights[b].index({0, h, i, j}).item<double>();
                              }};
          for (int64_t t = 0; t < text.tokens.size(1); ++t) {
            const int64_t id = text.tokens[0][t].item<int64_t>();
            const bool special = id == Vocabulary::kClassification || id == Vocabulary::kSeparator;
            loops.same.push_back(special ? -2 : eligible(id) && frequency[id] < most ? id : -1);
          }
          loops.add(sums, counts);
        }
        for (size_t c = 0; c < 4; ++c) {
          CAPTURE(b, h, kNames[c]);
          REQUIRE(counts[c] > 0);
          CHECK(column(result, kNames[c]).n[b] == static_cast<int64_t>(counts[c]));
          CHECK(column(result, kNames[c]).values[b][h].item<double>() ==
                Approx(sums[c] / counts[c]).epsilon(1e-12).margin(1e-14));
        }
      }
    CHECK(column(result, "same_above_others").difference);
    CHECK_FALSE(column(result, "to_content").difference);
  }
}

TEST_CASE("a head that looks at the first occurrence of a token is semantic, one that looks near is not",
          "[analysis][semantic]") {
  const std::vector<Example> texts = {text_of({4, 5, 6, 4, 5, 7}, false), text_of({8, 4, 5, 8, 6, 5}, false),
                                      text_of({4, 4, 6, 4, 5, 6, 7}, false)};
  const auto model = planted({{Plant::same, Plant::previous, Plant::uniform}}, Architecture::encoder);
  const AnalysisResult result = analyse("{semantic: {frequent: 0}}", *model, texts);
  CHECK(role_texts(result, model->blocks()) == std::vector<std::string>{"encoder.L0.H0 semantic: same token"});
  const auto value = [&](const char* name, int64_t head) {
    return column(result, name).values[0][head].item<double>();
  };
  // Pairs: 4-4 and 5-5 at 3; 8-8 at 3, 5-5 at 3; 4-4 at 1, 3 and 2, 6-6 at 3. The second and third 4 look at the first.
  CHECK(column(result, "to_earlier_same").n[0] == 8);
  CHECK(value("to_earlier_same", 0) == Approx(7.0 / 8).margin(0.01));
  CHECK(value("same_above_others", 0) == Approx(7.0 / 8).margin(0.01));  // two other words are no first occurrence
  // The one pair at distance 1 has its weight, as have the other pairs there.
  CHECK(value("to_earlier_same", 1) == Approx(1.0 / 8).margin(1e-6));
  CHECK(value("same_above_others", 1) == Approx(0).margin(1e-6));
  CHECK(value("same_above_others", 2) == Approx(0).margin(1e-12));
  CHECK(value("to_earlier_same", 2) == Approx(*column(result, "to_earlier_same").baseline[0]).epsilon(1e-12));
  // No other words, so nothing to compare content words with.
  CHECK_FALSE(column(result, "content_above_others").values[0].defined());
  const AnalysisResult all = analyse("semantic", *model, texts);  // a vocabulary without rare tokens
  CHECK_FALSE(column(all, "to_content").values[0].defined());
  CHECK_THAT(join(all.notes, "; "), ContainsSubstring("no more than 100 ordinary tokens") &&
                                        ContainsSubstring("no text has a content word twice"));
}

TEST_CASE("on a treebank lemmas and tags say which words are the same and have content", "[analysis][semantic]") {
  // Word by word: form, lemma, tag. "a" and "b" have one lemma; "." is no token of a word but its own.
  const std::vector<std::vector<std::array<const char*, 3>>> sentences = {
      {{"a", "x", "NOUN"}, {"c", "y", "VERB"}, {"d", "the", "DET"}, {"b", "x", "NOUN"}, {"e", "z", "ADJ"}},
      {{"c", "y", "VERB"},
       {"e", "w", "ADJ"},
       {"d", "the", "DET"},
       {"f", "y", "NOUN"},
       {"a", "x", "NOUN"},
       {"b", "_", "NOUN"}}};
  const TestFolder folder;
  std::string text;
  for (const auto& words : sentences) {
    int id = 0;
    for (const auto& [form, lemma, tag] : words)
      ++id, text += fmt::format("{}\t{}\t{}\t{}\t_\t_\t{}\tdep\t_\t_\n", id, form, lemma, tag, id == 1 ? 0 : 1);
    text += "\n";
  }
  folder.write("t.conllu", text);
  const std::string yaml = "{semantic: {conllu: '" + (folder / "t.conllu").string() + "'}}";
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  const AnalysisResult result = analyse(yaml, *subject.model, subject.examples);
  const FrozenModel frozen(*subject.model);
  const torch::NoGradGuard no_gradients;
  std::array<double, 4> sums = {}, counts = {};
  for (const auto& words : sentences) {
    std::vector<int64_t> ids;
    std::map<std::string, int64_t> lemmas;
    PairLoops loops{.same = {}, .visible = [](int64_t, int64_t) { return true; }, .weight = {}};
    for (const auto& [form, lemma, tag] : words) {
      ids.push_back(4 + *form - 'a');
      const bool content = std::string(tag) != "DET" && std::string(lemma) != "_";
      loops.same.push_back(content ? lemmas.emplace(lemma, std::ssize(lemmas)).first->second : -1);
    }
    const HeadTrace seen =
        subject.model->forward(batches_of({text_of(ids, false)}, 1)[0], {.gates = {}, .weights = true}).heads;
    loops.weight = [&](int64_t i, int64_t j) { return seen.weights[1].index({0, 2, i + 1, j + 1}).item<double>(); };
    loops.add(sums, counts);
  }
  CHECK(counts[0] == 2);  // x ... x at 3 and y ... y at 3, beside y ... z and w ... x
  for (size_t c = 0; c < 4; ++c) {
    CAPTURE(kNames[c]);
    CHECK(column(result, kNames[c]).n[1] == static_cast<int64_t>(counts[c]));
    CHECK(column(result, kNames[c]).values[1][2].item<double>() == Approx(sums[c] / counts[c]).epsilon(1e-12));
  }
  CHECK_THAT(result.notes[0], ContainsSubstring("2 sentences of t.conllu"));
}

TEST_CASE("a treebank without lemmas is refused, and so is a number of tokens beside one", "[analysis][semantic]") {
  const TestFolder folder;
  folder.write("t.conllu", "1\ta\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\tb\tb\tDET\t_\t_\t1\tdet\t_\t_\n");
  const std::string path = "conllu: '" + (folder / "t.conllu").string() + "'";
  const std::vector<Example> texts = {text_of({4, 5}, false)};
  const auto model = planted({{Plant::first}}, Architecture::encoder);
  CHECK_THROWS_WITH(make_analysis("{semantic: {" + path + "}}")->check(*model, dataset_of(texts, texts)),
                    ContainsSubstring("no noun, proper name, verb, adjective or adverb") &&
                        ContainsSubstring("drop `conllu` to compare tokens"));
  CHECK_THROWS_WITH(make_analysis("{semantic: {" + path + ", frequent: 3}}"),
                    ContainsSubstring("drop one of conllu and frequent"));
  CHECK_NOTHROW(make_analysis("semantic")->check(*model, dataset_of(texts, texts)));
}
