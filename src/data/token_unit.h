// What a token of a vocabulary built here is.
#pragma once

#include <string_view>
#include <vector>

#include "config/fields.h"

namespace headprune {

enum class TokenUnit { word, character, byte };
template <>
struct EnumNames<TokenUnit> {
  static constexpr std::pair<const char*, TokenUnit> names[] = {
      {"word", TokenUnit::word}, {"character", TokenUnit::character}, {"byte", TokenUnit::byte}};
};

/// The units of valid UTF-8 text. Word: split at ASCII white space. Character: code points. Byte: bytes.
std::vector<std::string_view> split_units(TokenUnit unit, std::string_view text);

}  // namespace headprune
