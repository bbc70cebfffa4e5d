#include "config/dump.h"

namespace headprune {

namespace {

void compare(const Json& a, const Json& b, const std::string& path, std::vector<ConfigDifference>& found) {
  if (!a.is_object() || !b.is_object()) {
    if (a != b) found.push_back({path, a, b});
    return;
  }
  for (const auto& [key, value] : a.items())
    compare(value, b.contains(key) ? b.at(key) : Json(), join_path(path, key), found);
  for (const auto& [key, value] : b.items())
    if (!a.contains(key)) compare(Json(), value, join_path(path, key), found);
}

}  // namespace

std::vector<ConfigDifference> config_diff(const Json& a, const Json& b) {
  std::vector<ConfigDifference> found;
  compare(a, b, "", found);
  return found;
}

}  // namespace headprune
