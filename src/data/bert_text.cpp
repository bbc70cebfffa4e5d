#include "data/bert_text.h"

#include <algorithm>

#include "data/unicode.h"

namespace headprune {

namespace {

constexpr int32_t kReplacement = 0xFFFD;

/// The blocks of CJK ideographs as BERT lists them, the gap before U+2B920 (which should be U+2B820) included.
bool is_chinese(int32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

/// `change(code_point, out)` appends what becomes of each code point.
template <class Change>
std::string each_code_point(std::string_view text, const Change& change) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) change(take_code_point(text, at), out);
  return out;
}

void append_clean(int32_t c, std::string& out) {
  if (c == 0 || c == kReplacement || is_bert_control(c)) return;
  append_utf8(is_white_space(c) ? ' ' : c, out);
}

void append_spaced(int32_t c, std::string& out) {
  const bool chinese = is_chinese(c);
  if (chinese) out += ' ';
  append_utf8(c, out);
  if (chinese) out += ' ';
}

void append_unmarked(int32_t c, std::string& out) {
  if (!is_bert_mark(c)) append_utf8(c, out);
}

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string bert_normalize(std::string_view text, const BertRules& rules) {
  std::string out(text);
  if (is_plain_ascii(text)) {  // most text: nothing to clean or to decompose
    if (rules.lowercase)
      for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  }
  if (rules.clean_text) out = each_code_point(out, append_clean);
  if (rules.space_chinese) out = each_code_point(out, append_spaced);
  if (rules.strip_accents) out = each_code_point(decompose(out), append_unmarked);
  if (rules.lowercase) out = each_code_point(out, append_lower);
  return out;
}

std::vector<std::string_view> bert_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  const auto end_word = [&](size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  };
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const int32_t c = take_code_point(text, at);
    const bool space = is_white_space(c);
    if (!space && !is_bert_punctuation(c)) continue;
    end_word(start);
    begin = space ? at : start;
    if (!space) end_word(at);
    begin = at;
  }
  end_word(text.size());
  return words;
}

}  // namespace headprune
