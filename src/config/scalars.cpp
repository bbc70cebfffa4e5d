#include "config/scalars.h"

#include <cctype>
#include <charconv>
#include <cmath>

#include "core/text.h"

namespace headprune {

namespace {

/// What all scalars that are not text have in common. "" when there is an unquoted word to read.
std::string check_word(const ConfigNode& node, const std::string& expected) {
  std::string text;
  if (std::string why = read_text(node, expected, text); !why.empty()) return why;
  if (text.empty()) return fmt::format("expected {}, got empty text", expected);
  if (node.quoted) return fmt::format("expected {}, got quoted text '{}'; remove the quotes", expected, text);
  if (!node.expanded && text.find("${") != std::string::npos)
    return fmt::format("expected {}, got '{}'; ${{env:NAME}} is for text and paths only", expected, text);
  if (node.from_override() && text.find(',') != std::string::npos)
    return fmt::format("expected {}, got '{}'; one run takes one value, and lists are written key=[1,2,3]", expected,
                       text);
  return "";
}

bool all_digits(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

/// -?(0|[1-9][0-9]*)
bool is_integer_form(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && all_digits(text) && (text.size() == 1 || text[0] != '0');
}

/// The same with a point and an exponent: 1e-4, .5, 5.
bool is_number_form(std::string_view text) {
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
    if (exponent.empty() || !all_digits(exponent)) return false;
    text = text.substr(0, e);
  }
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return is_integer_form(text) && text[0] != '-';
  const std::string_view whole = text.substr(0, point), fraction = text.substr(point + 1);
  if (whole.empty() && fraction.empty()) return false;
  return (whole.empty() || (is_integer_form(whole) && whole[0] != '-')) && all_digits(fraction);
}

bool is_nonfinite_word(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.erase(0, 1);
  if (!word.empty() && word[0] == '.') word.erase(0, 1);
  return word == "inf" || word == "nan" || word == "infinity";
}

template <class T>
std::errc convert(std::string_view text, T& out) {
  return std::from_chars(text.data(), text.data() + text.size(), out).ec;
}

}  // namespace

std::string read_text(const ConfigNode& node, const std::string& expected, std::string& out) {
  if (node.kind == ConfigNode::Kind::null) return "needs a value";
  if (node.kind != ConfigNode::Kind::scalar) return fmt::format("expected {}, got {}", expected, describe(node));
  if (!node.quoted && node.text == "???")
    return "??? is not supported: keys that must be given simply have no default; write the value here or as an "
           "override";
  out = node.text;
  return "";
}

std::string read_integer(const ConfigNode& node, int64_t& out) {
  if (std::string why = check_word(node, "a whole number"); !why.empty()) return why;
  int64_t value = 0;
  if (!is_integer_form(node.text)) return fmt::format("expected a whole number, got {}", describe(node));
  if (convert(node.text, value) != std::errc())
    return fmt::format("{} does not fit into a whole number of 64 bits", describe(node));
  out = value;
  return "";
}

std::string read_number(const ConfigNode& node, double& out) {
  if (std::string why = check_word(node, "a number"); !why.empty()) return why;
  if (is_nonfinite_word(node.text)) return fmt::format("expected a finite number, got {}", describe(node));
  if (!is_number_form(node.text)) return fmt::format("expected a number, got {}", describe(node));
  double value = 0;
  if (convert(node.text, value) != std::errc() || !std::isfinite(value))
    return fmt::format("{} is out of the range of numbers (about 1e-308 to 1e308)", describe(node));
  out = value;
  return "";
}

std::string read_bool(const ConfigNode& node, bool& out) {
  if (std::string why = check_word(node, "true or false"); !why.empty()) return why;
  if (node.text != "true" && node.text != "false") return fmt::format("expected true or false, got {}", describe(node));
  out = node.text == "true";
  return "";
}

std::string limit_text(double limit) {
  if (limit == std::floor(limit) && std::abs(limit) < 1e15) return std::to_string(static_cast<int64_t>(limit));
  return number_text(limit);
}

std::string range_text(const Constraints& c) {
  std::string low, high;
  if (c.minimum) low = (c.minimum_excluded ? "above " : "at least ") + limit_text(*c.minimum);
  if (c.maximum) high = (c.maximum_excluded ? "below " : "at most ") + limit_text(*c.maximum);
  if (c.minimum && c.maximum && !c.minimum_excluded && !c.maximum_excluded)
    return "between " + limit_text(*c.minimum) + " and " + limit_text(*c.maximum);
  return low.empty() || high.empty() ? low + high : low + " and " + high;
}

std::string check_range(double value, const std::string& shown, const Constraints& c) {
  const bool low = c.minimum && (value < *c.minimum || (c.minimum_excluded && value == *c.minimum));
  const bool high = c.maximum && (value > *c.maximum || (c.maximum_excluded && value == *c.maximum));
  return low || high ? fmt::format("must be {}, got {}", range_text(c), shown) : "";
}

std::string suggestion(const std::string& word, const std::vector<std::string>& words, const std::string& otherwise) {
  if (words.empty()) return "";
  if (const std::optional<std::string> near = nearest(word, words)) return "; did you mean '" + *near + "'?";
  for (const std::string& known : words)
    if (word.size() > 1 && known.starts_with(word)) return "; did you mean '" + known + "'?";
  return "; " + otherwise + join(words, ", ");
}

}  // namespace headprune
