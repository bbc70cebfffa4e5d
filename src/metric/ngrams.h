// What corpus BLEU and chrF share: words as Python splits them, n-grams, and statistics whose sums over sentences are
// all that the score of a corpus looks at, so that a bootstrap over sentences works on columns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stats/bootstrap.h"

namespace headprune {

/// What Python's str.isspace(), split() and rstrip() take for white space: Unicode's White_Space and U+001C to U+001F.
bool is_python_space(int32_t code_point);
/// str.split() of valid UTF-8. The words look into the text.
std::vector<std::string_view> python_words(std::string_view text);

/// How many n-grams a sequence of `length` symbols has.
int64_t ngram_count(size_t length, size_t n);
/// How many n-grams of one sequence the other has too, each as often as the one that has it less often.
int64_t matched_ngrams(std::span<const int32_t> one, std::span<const int32_t> other, size_t n);

/// Column by column what `sentences` have row by row: with a score of sums, an ExampleMetric.
template <size_t width>
Columns statistic_columns(const std::vector<std::array<double, width>>& sentences) {
  Columns columns{.n = sentences.size(), .columns = std::vector<std::vector<double>>(width)};
  for (const auto& sentence : sentences)
    for (size_t i = 0; i < width; ++i) columns.columns[i].push_back(sentence[i]);
  return columns;
}

}  // namespace headprune
