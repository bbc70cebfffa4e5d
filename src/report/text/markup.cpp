#include "report/text/markup.h"

#include <cctype>

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
  const auto at = [&](size_t i) { return i < text.size() ? text[i] : ' '; };
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const size_t digits = text.find_first_not_of("0123456789");
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    bool escape = std::string_view("\\`*<>|~").find(c) != std::string_view::npos;
    // Inside a word an underscore is itself; brackets are, unless a link or a box to tick would come of them.
    if (c == '_') escape = !(i > 0 && is_word(text[i - 1]) && is_word(at(i + 1)));
    if (c == '[') escape = i == 0 || at(i + 1) == ' ';
    if (c == ']') escape = at(i + 1) == '(' || at(i + 1) == '[' || at(i + 1) == ':';
    // What would begin a heading, a list or a rule.
    const bool begins =
        std::string_view("#-+=").find(c) != std::string_view::npos && (at(i + 1) == ' ' || at(i + 1) == c);
    if (i == 0 && text.size() > 1) escape = escape || begins;
    if (i > 0 && i == digits) escape = escape || ((c == '.' || c == ')') && at(i + 1) == ' ');
    if (c == '&') escape = true;
    if (escape) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace headprune
