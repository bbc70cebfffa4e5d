#include "config/problems.h"

#include <algorithm>
#include <tuple>

#include "core/text.h"

namespace headprune {

std::string Place::text() const {
  if (!source) return "default";
  return line == 0 ? fmt::format("{}:{}", source->name, column) : fmt::format("{}:{}:{}", source->name, line, column);
}

std::string origin_text(const Origins& origins, const std::string& path) {
  const auto at = origins.find(path);
  return at == origins.end() ? "default" : at->second.text();
}

std::string Diagnostic::text() const {
  std::string out = file;
  if (line > 0) out += ":" + std::to_string(line);
  if (column > 0) out += ":" + std::to_string(column);
  out += ": ";
  if (!path.empty()) out += path + ": ";
  return out + message;
}

namespace {

std::string all_lines(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : diagnostics) lines.push_back(diagnostic.text());
  return join(lines, "\n");
}

}  // namespace

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : Error(ExitCode::usage, all_lines(diagnostics)), diagnostics_(std::move(diagnostics)) {}

void Problems::add(const Place& place, const std::string& path, const std::string& message) {
  found_.push_back({place, path, message});
}

bool Problems::concerns(const std::string& path) const {
  return std::any_of(found_.begin(), found_.end(), [&](const Found& found) { return is_inside(found.path, path); });
}

bool Problems::undecided_inside(const std::string& section) const {
  return std::any_of(undecided_.begin(), undecided_.end(),
                     [&](const std::string& path) { return is_inside(path, section); });
}

void Problems::throw_if_any() const {
  if (found_.empty()) return;
  std::vector<Found> sorted = found_;
  const auto key = [](const Found& found) {
    return std::make_tuple(found.place.source ? found.place.source->order : 0, found.place.line, found.place.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Found& a, const Found& b) { return key(a) < key(b); });
  std::vector<Diagnostic> diagnostics;
  for (const Found& found : sorted)
    diagnostics.push_back({found.place.source ? found.place.source->name : "configuration", found.place.line,
                           found.place.column, found.path, found.message});
  throw ConfigError(std::move(diagnostics));
}

std::string join_path(const std::string& section, const std::string& key) {
  if (section.empty() || key.empty()) return section + key;
  return section + "." + key;
}

std::string parent_path(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

bool is_inside(const std::string& path, const std::string& above) {
  if (above.empty()) return true;
  return path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '.');
}

}  // namespace headprune
