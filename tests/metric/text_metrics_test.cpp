// BLEU and chrF equal to sacreBLEU's: tests/golden/make_text_metrics.py made what is compared here, and its --explain
// prints what sacreBLEU makes of one pair.
#include <cstdlib>

#include "core/files.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/text.h"
#include "metric/bleu.h"
#include "metric/chrf.h"
#include "metric/ngrams.h"
#include "support/catch_torch.h"

using namespace headprune;

namespace {

const Json& text_metric_goldens() {
  static const Json golden = [] {
    const fs::path path = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/text_metrics.json";
    return parse_json(read_file(path), path.string());
  }();
  return golden;
}

using TextPair = std::array<std::string, 2>;

/// Corpus scores by way of columns and their sums, as the translation task's metrics go.
template <size_t width>
double corpus_score(std::array<double, width> (*statistics)(std::string_view, std::string_view),
                    double (*score)(std::span<const double>), const std::vector<TextPair>& pairs) {
  std::vector<std::array<double, width>> rows;
  for (const auto& [hypothesis, reference] : pairs) rows.push_back(statistics(hypothesis, reference));
  return Bootstrap(pairs.size(), /*draws=*/0, /*seed=*/0).resample(statistic_columns(rows), score).value;
}

void check_scores(const std::vector<TextPair>& pairs, const Json& golden) {
  CHECK(corpus_score(bleu_statistics, bleu_of, pairs) == Approx(golden["bleu"].get<double>()).margin(1e-9).epsilon(0));
  CHECK(corpus_score(chrf_statistics, chrf_of, pairs) == Approx(golden["chrf"].get<double>()).margin(1e-9).epsilon(0));
}

/// spoil() of make_text_metrics.py.
std::string spoilt(std::string_view line, size_t number) {
  const std::vector<std::string_view> words = split(line, ' ');
  std::vector<std::string> kept;
  for (size_t i = 0; i < words.size(); ++i)
    if ((i + number) % 5 != 0) kept.emplace_back(words[i]);
  if (number % 3 == 0 && kept.size() > 1) std::swap(kept[0], kept[1]);
  return join(kept, " ");
}

}  // namespace

TEST_CASE("white space is what Python takes for it", "[task][bleu][chrf]") {
  std::vector<int32_t> spaces;
  for (int32_t code_point = 0; code_point < 0x110000; ++code_point)
    if (is_python_space(code_point)) spaces.push_back(code_point);
  CHECK(spaces == text_metric_goldens()["spaces"].get<std::vector<int32_t>>());
  CHECK(python_words(" a\u00a0\u2028bc\x1c"
                     "d") == std::vector<std::string_view>{"a", "bc", "d"});
  CHECK(python_words("\u3000").empty());
}

TEST_CASE("n-grams match as often as both sides have them", "[task][bleu][chrf]") {
  const std::vector<int32_t> one = {1, 2, 1, 2, 1}, other = {2, 1, 2, 3};
  CHECK(matched_ngrams(one, other, 1) == 3);
  CHECK(matched_ngrams(one, other, 2) == 2);
  CHECK(matched_ngrams(other, one, 2) == 2);
  CHECK(matched_ngrams(one, other, 3) == 1);
  CHECK(matched_ngrams(one, other, 4) == 0);
  CHECK(matched_ngrams(one, other, 5) == 0);
  CHECK(ngram_count(4, 4) == 1);
  CHECK(ngram_count(3, 4) == 0);
}

TEST_CASE("signatures are sacreBLEU's without its version", "[task][bleu][chrf]") {
  for (const auto& [name, ours] : {std::pair("bleu", kBleuSignature), std::pair("chrf", kChrfSignature)})
    CHECK(text_metric_goldens()["signatures"][name].get<std::string>() == std::string(ours) + "|version:2.6.0");
}

TEST_CASE("awkward sentences have sacreBLEU's tokens, statistics and scores", "[task][bleu][chrf]") {
  const Json& pairs = text_metric_goldens()["pairs"];
  REQUIRE(pairs.size() > 300);
  for (const Json& pair : pairs) {
    INFO(pair["texts"].dump(-1, ' ', true));
    const auto texts = pair["texts"].get<TextPair>();
    for (size_t side = 0; side < 2; ++side)
      CHECK(join(tokenize_13a(texts[side]), " ") == pair["tokens"][side].get<std::string>());
    CHECK(bleu_statistics(texts[0], texts[1]) == pair["bleu_statistics"].get<BleuStatistics>());
    CHECK(chrf_statistics(texts[0], texts[1]) == pair["chrf_statistics"].get<ChrfStatistics>());
    check_scores({texts}, pair);
  }
}

TEST_CASE("corpora have sacreBLEU's scores", "[task][bleu][chrf]") {
  const Json &pairs = text_metric_goldens()["pairs"], &corpora = text_metric_goldens()["corpora"];
  REQUIRE(corpora.size() > 5);
  for (const Json& corpus : corpora) {
    std::vector<TextPair> chosen;
    for (const Json& i : corpus["pairs"]) chosen.push_back(pairs[i.get<size_t>()]["texts"].get<TextPair>());
    INFO(corpus.dump());
    check_scores(chosen, corpus);
  }
}

TEST_CASE("a corpus without sentences scores 0", "[task][bleu][chrf]") {
  CHECK(bleu_of(BleuStatistics{}) == 0);
  CHECK(chrf_of(ChrfStatistics{}) == 0);
}

TEST_CASE("the Multi30k test set has sacreBLEU's scores", "[task][bleu][chrf]") {
  const char* data = std::getenv("HEADPRUNE_TEST_DATA");
  if (!data) {
    WARN("not run: HEADPRUNE_TEST_DATA is not set to a folder with multi30k-en-de");
    return;
  }
  const Json& golden = text_metric_goldens()["multi30k"];
  const std::string text = read_file(fs::path(data) / "multi30k-en-de/test_2016_flickr.de");
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  REQUIRE(lines.size() == golden["lines"].get<size_t>());
  std::vector<TextPair> pairs;
  Sha256 hash;
  for (size_t i = 0; i < lines.size(); ++i) {
    pairs.push_back({spoilt(lines[i], i), std::string(lines[i])});
    hash.update(pairs.back()[0] + "\n");
  }
  REQUIRE(hash.hex() == golden["hypotheses_sha256"].get<std::string>());
  check_scores(pairs, golden);
}
