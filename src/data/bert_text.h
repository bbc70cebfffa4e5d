// BERT's rules for text before WordPiece: cleaning and splitting into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headprune {

/// What `BertNormalizer` of the `tokenizers` library does; all off: nothing.
struct BertRules {
  bool clean_text = true;     // control characters removed, white space becomes a space
  bool space_chinese = true;  // spaces around CJK ideographs
  bool strip_accents = true;  // decomposed, nonspacing marks removed
  bool lowercase = true;
};

/// `text` is valid UTF-8.
std::string bert_normalize(std::string_view text, const BertRules& rules);

/// Words between white space, each punctuation character one of its own (`BertPreTokenizer`).
std::vector<std::string_view> bert_words(std::string_view text);

}  // namespace headprune
