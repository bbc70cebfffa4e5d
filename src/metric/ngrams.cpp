#include "metric/ngrams.h"

#include <algorithm>

#include "data/unicode.h"

namespace headprune {

namespace {

/// Where the n-grams of a sequence begin, equal ones beside each other.
std::vector<const int32_t*> sorted_ngrams(std::span<const int32_t> symbols, size_t n) {
  std::vector<const int32_t*> starts;
  for (size_t i = 0; i + n <= symbols.size(); ++i) starts.push_back(symbols.data() + i);
  std::sort(starts.begin(), starts.end(), [n](const int32_t* left, const int32_t* right) {
    return std::lexicographical_compare(left, left + n, right, right + n);
  });
  return starts;
}

}  // namespace

bool is_python_space(int32_t code_point) {
  return is_white_space(code_point) || (code_point >= 0x1C && code_point <= 0x1F);
}

std::vector<std::string_view> python_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    if (!is_python_space(take_code_point(text, at))) continue;
    if (here > begin) words.push_back(text.substr(begin, here - begin));
    begin = at;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

int64_t ngram_count(size_t length, size_t n) { return length < n ? 0 : static_cast<int64_t>(length - n + 1); }

int64_t matched_ngrams(std::span<const int32_t> one, std::span<const int32_t> other, size_t n) {
  const std::vector<const int32_t*> left = sorted_ngrams(one, n), right = sorted_ngrams(other, n);
  int64_t matched = 0;
  for (auto a = left.begin(), b = right.begin(); a != left.end() && b != right.end();) {
    if (std::equal(*a, *a + n, *b)) {
      ++matched, ++a, ++b;
    } else {
      const bool smaller = std::lexicographical_compare(*a, *a + n, *b, *b + n);
      ++(smaller ? a : b);
    }
  }
  return matched;
}

}  // namespace headprune
