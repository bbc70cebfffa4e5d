#include "data/word_split.h"

#include <algorithm>

#include "data/unicode.h"

namespace headprune {

namespace {

enum class CharacterClass { space, letter, number, other };

CharacterClass class_of(int32_t code_point) {
  if (is_white_space(code_point)) return CharacterClass::space;
  if (is_letter(code_point)) return CharacterClass::letter;
  return is_number(code_point) ? CharacterClass::number : CharacterClass::other;
}

/// Behind the run of characters of class `wanted` that starts at `at`; `last` is where its last character begins.
size_t run_end(std::string_view text, size_t at, CharacterClass wanted, size_t* last) {
  while (at < text.size()) {
    size_t next = at;
    if (class_of(take_code_point(text, next)) != wanted) break;
    *last = at;
    at = next;
  }
  return at;
}

/// Behind the first character.
size_t next_character(std::string_view text, size_t at) {
  take_code_point(text, at);
  return at;
}

CharacterClass class_at(std::string_view text, size_t at) { return class_of(take_code_point(text, at)); }

bool is_line_end(char byte) { return byte == '\r' || byte == '\n'; }

/// Bytes of an ending of English after an apostrophe at `at`, in upper or lower case; 0 where there is none. The long s
/// (U+017F) is an s too when case counts for nothing.
size_t contraction(std::string_view text, size_t at) {
  if (text[at] != '\'') return 0;
  const std::string_view rest = text.substr(at + 1);
  if (rest.starts_with("\xC5\xBF")) return 3;
  for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
    const bool same = rest.size() >= ending.size() &&
                      std::equal(ending.begin(), ending.end(), rest.begin(), [](char wanted, char found) {
                        return wanted == (found >= 'A' && found <= 'Z' ? static_cast<char>(found + 32) : found);
                      });
    if (same) return 1 + ending.size();
  }
  return 0;
}

/// White space from `at` on, where a word of Qwen2's pattern begins with it and no line ends with it.
size_t white_space_end(std::string_view text, size_t at) {
  size_t last = at;
  const size_t end = run_end(text, at, CharacterClass::space, &last);
  // \s*[\r\n]+ : up to the last end of a line within the run.
  for (size_t i = end; i > at; --i)
    if (is_line_end(text[i - 1])) return i;
  // \s+(?!\S) leaves the last one to a word behind it; \s+ takes what is left.
  return end == text.size() || last == at ? end : last;
}

size_t grouped_word_end(std::string_view text, size_t at, int most_digits) {
  if (const size_t bytes = contraction(text, at); bytes > 0) return at + bytes;
  const CharacterClass first = class_at(text, at);
  const size_t behind = next_character(text, at);
  size_t last = at;
  // [^\r\n\p{L}\p{N}]?\p{L}+
  if (first == CharacterClass::letter) return run_end(text, at, CharacterClass::letter, &last);
  if (first != CharacterClass::number && !is_line_end(text[at]) && behind < text.size() &&
      class_at(text, behind) == CharacterClass::letter)
    return run_end(text, behind, CharacterClass::letter, &last);
  if (first == CharacterClass::number) {
    size_t end = behind;
    for (int digits = 1; digits < most_digits && end < text.size() && class_at(text, end) == CharacterClass::number;
         ++digits)
      end = next_character(text, end);
    return end;
  }
  // ' ?[^\s\p{L}\p{N}]+[\r\n]*'
  const bool spaced = text[at] == ' ' && behind < text.size() && class_at(text, behind) == CharacterClass::other;
  if (first != CharacterClass::other && !spaced) return white_space_end(text, at);
  size_t end = run_end(text, spaced ? behind : at, CharacterClass::other, &last);
  while (end < text.size() && is_line_end(text[end])) ++end;
  return end;
}

}  // namespace

size_t gpt2_word_end(std::string_view text, size_t at) {
  if (text[at] == '\'')
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.substr(at).starts_with(ending)) return at + ending.size();

  size_t next = at, last = at;
  CharacterClass kind = class_of(take_code_point(text, next));
  // One space goes with the word behind it.
  if (text[at] == ' ' && next < text.size()) {
    size_t ignored = next;
    kind = class_of(take_code_point(text, ignored));
  }
  if (kind != CharacterClass::space) return run_end(text, text[at] == ' ' ? at + 1 : at, kind, &last);
  // Of several white spaces before a word the last is left to it.
  const size_t end = run_end(text, at, CharacterClass::space, &last);
  return end == text.size() || last == at ? end : last;
}

size_t digits_word_end(std::string_view text, size_t at) {
  const CharacterClass first = class_at(text, at);
  if (first == CharacterClass::number) return next_character(text, at);
  // The pattern sees nothing behind a digit's edge: white space before one is whole, and no space goes with it. Words
  // of letters and of other characters end there anyway.
  if (first == CharacterClass::space) {
    size_t last = at;
    const size_t end = run_end(text, at, CharacterClass::space, &last);
    if (end < text.size() && class_at(text, end) == CharacterClass::number) return end;
  }
  return gpt2_word_end(text, at);
}

size_t qwen2_word_end(std::string_view text, size_t at) { return grouped_word_end(text, at, 1); }
size_t llama3_word_end(std::string_view text, size_t at) { return grouped_word_end(text, at, 3); }

}  // namespace headprune
