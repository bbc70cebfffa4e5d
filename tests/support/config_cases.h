// Tables of bad configurations: "=== name", YAML text, "--- override" lines (optional), "--- expect" and every line of
// the message, in order. "\t" in a text stands for a tab and $HERE for the table's folder.
#pragma once

#include <string>
#include <vector>

#include "core/files.h"
#include "core/text.h"

namespace headprune {

struct ConfigCase {
  std::string name, yaml, expected;
  std::vector<std::string> overrides;
};

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

inline std::vector<ConfigCase> read_config_cases(const fs::path& table) {
  const std::string text = read_file(table);
  std::vector<ConfigCase> cases;
  enum class Part { none, yaml, overrides, expected } part = Part::none;
  for (const std::string_view view : split(text, '\n')) {
    std::string line(view);
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), "", "", {}});
      part = Part::yaml;
    } else if (line == "--- override") {
      part = Part::overrides;
    } else if (line == "--- expect") {
      part = Part::expected;
    } else if (part == Part::yaml) {
      replace_all(line, "\\t", "\t");
      cases.back().yaml += line + "\n";
    } else if (part == Part::overrides) {
      cases.back().overrides.push_back(line);
    } else if (part == Part::expected && !line.empty()) {
      replace_all(line, "$HERE", table.parent_path().string());
      cases.back().expected += (cases.back().expected.empty() ? "" : "\n") + line;
    }
  }
  return cases;
}

}  // namespace headprune
