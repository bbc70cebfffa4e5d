#include "config/environment.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/text.h"

namespace headprune {

namespace {

constexpr const char* kForm = "write ${env:NAME} or ${env:NAME:-default}, or $${ for a literal ${";

bool is_variable_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  for (const char c : name)
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  return true;
}

}  // namespace

std::string Environment::replace(const std::string& reference, std::string& out) {
  std::string name = reference.substr(std::string("${env:").size());
  name.pop_back();  // }
  std::string fallback;
  const size_t dash = name.find(":-");
  if (dash != std::string::npos) fallback = name.substr(dash + 2), name = name.substr(0, dash);
  if (!is_variable_name(name)) return fmt::format("'{}' names no variable; {}", reference, kForm);
  const char* set = std::getenv(name.c_str());
  const std::string value = set ? set : "";
  used_[name] = value;
  if (!set && dash == std::string::npos)
    return fmt::format("the environment variable {} is not set; set it, or write ${{env:{}:-default}}", name, name);
  out = value.empty() ? fallback : value;
  if (invalid_utf8(out) || out.find('\0') != std::string::npos)
    return fmt::format("the environment variable {} is not UTF-8 text", name);
  return "";
}

std::string Environment::expand(std::string& text) {
  std::string out;
  began_with_variable_ = false;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 3, "$${") == 0) {
      out += "${";
      i += 3;
    } else if (text.compare(i, 2, "${") == 0) {
      const size_t end = text.find('}', i);
      if (end == std::string::npos) return fmt::format("'{}' has no closing brace; {}", text.substr(i), kForm);
      const std::string reference = text.substr(i, end - i + 1);
      if (!reference.starts_with("${env:")) return fmt::format("'{}' is not supported; {}", reference, kForm);
      std::string value;
      if (std::string why = replace(reference, value); !why.empty()) return why;
      // A default stands in the file, and is relative to it as all that stands there.
      const std::string name = reference.substr(6, reference.find_first_of(":}", 6) - 6);
      if (i == 0) began_with_variable_ = !used_[name].empty();
      out += value;
      i = end + 1;
    } else {
      out += text[i++];
    }
  }
  text = out;
  return "";
}

std::string escape_references(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "${") == 0) out += '$';
    out += text[i];
  }
  return out;
}

}  // namespace headprune
