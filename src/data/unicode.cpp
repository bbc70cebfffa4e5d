#include "data/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "core/error.h"

namespace headprune {

namespace {

struct CodePoints {
  int32_t first, last;
};

/// Marks (Mn), punctuation (P) and format characters (Cf) of Unicode 15 that were none of these in Unicode 7, found by
/// asking the library (BertNormalizer, BertPreTokenizer) for every code point; unassigned ones and those of other
/// categories between them are listed with them. tests/golden/make_tokenizer_goldens.py compares every code point.
constexpr CodePoints kNewer[] = {
    {0x61D, 0x61D},     {0x7FD, 0x7FD},     {0x890, 0x89F},     {0x8CA, 0x8E2},     {0x9FD, 0x9FE},
    {0xA76, 0xA76},     {0xAFA, 0xAFF},     {0xB55, 0xB55},     {0xC04, 0xC04},     {0xC3C, 0xC3C},
    {0xC77, 0xC77},     {0xC84, 0xC84},     {0xD00, 0xD00},     {0xD3B, 0xD3C},     {0xD81, 0xD81},
    {0xEBA, 0xEBA},     {0xECE, 0xECE},     {0x180F, 0x180F},   {0x1885, 0x1886},   {0x1ABF, 0x1ACE},
    {0x1B7D, 0x1B7E},   {0x1DF6, 0x1DFB},   {0x2E43, 0x2E5D},   {0xA82C, 0xA82C},   {0xA8C5, 0xA8C5},
    {0xA8FF, 0xA8FF},   {0xA9BD, 0xA9BD},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAD}, {0x10EFD, 0x10EFF},
    {0x10F46, 0x10F59}, {0x10F82, 0x10F89}, {0x11070, 0x11074}, {0x110C2, 0x110CD}, {0x111C9, 0x111C9},
    {0x111CF, 0x111CF}, {0x1123E, 0x11241}, {0x1133B, 0x1133B}, {0x11438, 0x1145E}, {0x11660, 0x1166C},
    {0x116B9, 0x116B9}, {0x1182F, 0x1183B}, {0x1193B, 0x11946}, {0x119D4, 0x11A0A}, {0x11A33, 0x11A5B},
    {0x11A8A, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C30, 0x11C45}, {0x11C70, 0x11CB6}, {0x11D31, 0x11D47},
    {0x11D90, 0x11D97}, {0x11EF3, 0x11F01}, {0x11F36, 0x11F4F}, {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2},
    {0x13430, 0x13455}, {0x16E97, 0x16E9A}, {0x16F4F, 0x16F4F}, {0x16FE2, 0x16FE4}, {0x1CF00, 0x1CF46},
    {0x1E000, 0x1E02A}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF},
    {0x1E4EC, 0x1E4EF}, {0x1E944, 0x1E95F}};

bool is_newer(int32_t code_point) {
  const auto* at = std::partition_point(std::begin(kNewer), std::end(kNewer),
                                        [code_point](const CodePoints& range) { return range.last < code_point; });
  return at != std::end(kNewer) && at->first <= code_point;
}

bool is_ascii_punctuation(int32_t code_point) {
  return (code_point >= '!' && code_point <= '/') || (code_point >= ':' && code_point <= '@') ||
         (code_point >= '[' && code_point <= '`') || (code_point >= '{' && code_point <= '~');
}

bool is_punctuation_category(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

}  // namespace

int32_t take_code_point(std::string_view text, size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    ++at;
    return first;
  }
  int32_t code_point = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
  if (length <= 0) throw std::logic_error("take_code_point: invalid UTF-8");
  at += static_cast<size_t>(length);
  return code_point;
}

void append_utf8(int32_t code_point, std::string& text) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

bool is_white_space(int32_t code_point) {
  if (code_point < 0x80) return code_point == ' ' || (code_point >= '\t' && code_point <= '\r');
  if (code_point == 0x85) return true;
  const utf8proc_category_t category = utf8proc_category(code_point);
  return category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP;
}

bool is_letter(int32_t code_point) {
  const utf8proc_category_t category = utf8proc_category(code_point);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_number(int32_t code_point) {
  const utf8proc_category_t category = utf8proc_category(code_point);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_word_character(int32_t code_point) {
  const utf8proc_category_t category = utf8proc_category(code_point);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) return true;  // L, M, Nd, Nl
  // The symbols that are alphabetic (letters in circles and squares), and the joiners.
  return category == UTF8PROC_CATEGORY_PC || (code_point >= 0x24B6 && code_point <= 0x24E9) ||
         (code_point >= 0x1F130 && code_point <= 0x1F149) || (code_point >= 0x1F150 && code_point <= 0x1F169) ||
         (code_point >= 0x1F170 && code_point <= 0x1F189) || code_point == 0x200C || code_point == 0x200D;
}

bool is_bert_control(int32_t code_point) {
  if (code_point == '\t' || code_point == '\n' || code_point == '\r') return false;
  const utf8proc_category_t category = utf8proc_category(code_point);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CO ||
         (category == UTF8PROC_CATEGORY_CF && !is_newer(code_point));
}

bool is_bert_punctuation(int32_t code_point) {
  if (code_point < 0x80) return is_ascii_punctuation(code_point);
  // Two that left the class after Unicode 7.
  if (code_point == 0x166D || code_point == 0x111C9) return true;
  return is_punctuation_category(utf8proc_category(code_point)) && !is_newer(code_point);
}

bool is_bert_mark(int32_t code_point) {
  // U+1734 has left the class since.
  return code_point == 0x1734 || (utf8proc_category(code_point) == UTF8PROC_CATEGORY_MN && !is_newer(code_point));
}

namespace {

std::string mapped_by(std::string_view text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &mapped, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
  if (length < 0) throw std::logic_error(fmt::format("normal form of a text: {}", utf8proc_errmsg(length)));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(length)};
}

}  // namespace

std::string decompose(std::string_view text) { return mapped_by(text, UTF8PROC_DECOMPOSE); }

std::string compose(std::string_view text) { return mapped_by(text, UTF8PROC_COMPOSE); }

void append_lower(int32_t code_point, std::string& text) {
  // The one character whose lower case is two; utf8proc gives only the first.
  if (code_point == 0x130)
    text += "i\xCC\x87";
  else
    append_utf8(utf8proc_tolower(code_point), text);
}

}  // namespace headprune
