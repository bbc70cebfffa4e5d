// Code points and the classes by which tokenizers split text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headprune {

/// The code point that begins at byte `at` of valid UTF-8; moves `at` behind it.
int32_t take_code_point(std::string_view text, size_t& at);
void append_utf8(int32_t code_point, std::string& text);

/// Unicode's White_Space.
bool is_white_space(int32_t code_point);
/// Unicode's L and N.
bool is_letter(int32_t code_point);
bool is_number(int32_t code_point);
/// What \w is in the regular expressions of Rust: alphabetic, mark, decimal digit, connector, joiner.
bool is_word_character(int32_t code_point);

/// Categories as the `tokenizers` library (0.22) asks for them in BERT's rules: tables of Unicode 7, so that later
/// marks, punctuation and format characters are none of these.
bool is_bert_control(int32_t code_point);
bool is_bert_punctuation(int32_t code_point);
bool is_bert_mark(int32_t code_point);

/// Canonical decomposition (NFD) of valid UTF-8.
std::string decompose(std::string_view text);
/// Canonical composition (NFC).
std::string compose(std::string_view text);
/// Full lower case of one character whatever stands beside it, appended to `text`.
void append_lower(int32_t code_point, std::string& text);

}  // namespace headprune
