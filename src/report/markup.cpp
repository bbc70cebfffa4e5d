#include "report/markup.h"

#include "core/text.h"

namespace headprune {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

void append_character(std::string& out, std::string_view character) {
  if (character == "&") {
    out += "&amp;";
  } else if (character == "<") {
    out += "&lt;";
  } else if (character == ">") {
    out += "&gt;";
  } else if (character == "\"") {
    out += "&quot;";
  } else if (character == "'") {
    out += "&#39;";
  } else if (character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF") {
    out += kReplacement;
  } else {
    const auto first = static_cast<unsigned char>(character.front());
    const bool control = first < 0x20 && first != '\t' && first != '\n' && first != '\r';
    out += control ? std::string_view(kReplacement) : character;
  }
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::optional<size_t> bad = invalid_utf8(text);
    const std::string_view good = text.substr(0, bad.value_or(text.size()));
    for (const std::string_view character : utf8_characters(good)) append_character(out, character);
    text.remove_prefix(good.size());
    if (!bad) break;
    out += kReplacement;
    text.remove_prefix(1);
  }
  return out;
}

std::string markdown_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_[]<>|~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace headprune
