// Whether a text is well-formed XML, for the subset that this program writes: one root, elements that close in order,
// quoted attributes, known entities, no bare '<' or '&'.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace headprune::testing {

/// Empty when well-formed, else what is wrong and where.
inline std::string xml_problem(const std::string& text) {
  std::vector<std::string> open;
  bool root_seen = false;
  const auto at = [](size_t i) { return " at byte " + std::to_string(i); };
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '&') {
      const size_t end = text.find(';', i);
      const std::string entity = end == std::string::npos ? "" : text.substr(i, end - i + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" && entity != "&#39;")
        return "bad entity" + at(i);
      i = end + 1;
    } else if (text[i] != '<') {
      if (open.empty() && !std::isspace(static_cast<unsigned char>(text[i]))) return "text outside the root" + at(i);
      ++i;
    } else if (text.compare(i, 2, "<?") == 0) {
      i = text.find("?>", i);
      if (i == std::string::npos) return "open declaration";
      i += 2;
    } else if (text.compare(i, 2, "</") == 0) {
      const size_t end = text.find('>', i);
      const std::string name = text.substr(i + 2, end - i - 2);
      if (open.empty() || open.back() != name) return "</" + name + "> closes something else" + at(i);
      open.pop_back();
      i = end + 1;
    } else {
      size_t end = i + 1;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '-')) ++end;
      const std::string name = text.substr(i + 1, end - i - 1);
      if (name.empty()) return "bare <" + at(i);
      if (open.empty() && root_seen) return "a second root" + at(i);
      root_seen = true;
      // Attributes: name="value".
      while (end < text.size() && text[end] != '>' && text[end] != '/') {
        if (std::isspace(static_cast<unsigned char>(text[end]))) {
          ++end;
          continue;
        }
        const size_t equals = text.find("=\"", end);
        if (equals == std::string::npos) return "attribute without a value" + at(end);
        for (size_t c = end; c < equals; ++c) {
          if (!std::isalnum(static_cast<unsigned char>(text[c])) && text[c] != '-' && text[c] != ':')
            return "bad attribute name" + at(c);
        }
        const size_t close = text.find('"', equals + 2);
        if (close == std::string::npos) return "open attribute" + at(equals);
        if (text.substr(equals + 2, close - equals - 2).find('<') != std::string::npos)
          return "< in an attribute" + at(equals);
        end = close + 1;
      }
      if (end >= text.size()) return "open element" + at(i);
      if (text[end] == '/') {
        if (end + 1 >= text.size() || text[end + 1] != '>') return "bad end of an element" + at(end);
        i = end + 2;
      } else {
        open.push_back(name);
        i = end + 1;
      }
    }
  }
  if (!open.empty()) return "<" + open.back() + "> is not closed";
  return root_seen ? "" : "no root";
}

}  // namespace headprune::testing
