// Tokens that are found in a text as they are spelled, before a tokenizer's own rules see the text.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headprune {

/// With the flags of the `tokenizers` library.
struct AddedToken {
  std::string content;
  int64_t id = 0;
  bool special = false;      // only decides which of two equal spellings is found
  bool single_word = false;  // not next to a word character
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // and behind it
  bool normalized = false;   // looked for in normalized text, and normalized itself
  bool passed_over = false;  // found, but left to the tokenizer's own rules (split_special_tokens)
};

/// Finds some tokens in a text: leftmost first, of those the longest, as the library does.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// `contents` are what is looked for, one a token; none is empty.
  AddedTokens(std::vector<AddedToken> tokens, std::vector<std::string> contents);

  /// Calls `on_text` for each stretch of text without tokens, never empty, and `on_token` for each token, in order.
  void split(std::string_view text, const std::function<void(std::string_view)>& on_text,
             const std::function<void(int64_t)>& on_token) const;

 private:
  struct Match {
    size_t token, begin, end;
  };
  bool find(std::string_view text, size_t from, Match& match) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> contents_;
  std::array<std::vector<size_t>, 256> by_first_byte_;  // longest content first
};

}  // namespace headprune
