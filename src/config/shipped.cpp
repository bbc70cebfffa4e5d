#include "config/shipped.h"

#include <algorithm>

#include "config/scalars.h"
#include "core/files.h"
#include "core/text.h"

namespace headprune {

namespace {

/// Where the shipped folders may be, as seen from the executable, so that an installed program can be moved: beside it
/// (a build folder, in which CMake links those of the sources), or where `cmake --install` puts them.
std::vector<fs::path> places() {
  const fs::path program = program_folder();
  return {program / "share/headprune", (program / "../share/headprune").lexically_normal()};
}

std::string places_text() {
  std::vector<std::string> texts;
  for (const fs::path& place : places()) texts.push_back(place.string());
  return join(texts, " and ");
}

}  // namespace

bool is_shipped(const std::string& name) { return name.starts_with(kShipped); }

fs::path shipped_file(const std::string& name) {
  const fs::path inner = name.substr(std::string(kShipped).size());
  // One file, one name: run.json and origins would otherwise show the same file under several.
  if (inner.empty() || inner.is_absolute() || inner != inner.lexically_normal() || *inner.begin() == "..")
    fail(ExitCode::usage, "'{}' names no file: write {}configs/... or {}experiments/...", name, kShipped, kShipped);
  for (const fs::path& place : places()) {
    std::error_code ignored;
    if (!fs::exists(place / inner, ignored)) continue;
    const fs::path file = fs::canonical(place / inner, ignored);
    if (!ignored) return file;
  }
  const std::string near = suggestion(name, shipped_names(), "");
  fail(ExitCode::usage, "'{}' does not come with this headprune; looked in {}{}", name, places_text(),
       near.starts_with("; did you mean") ? near : "; see headprune list configs");
}

std::vector<std::string> shipped_names(const std::string& start) {
  std::vector<std::string> names;
  for (const fs::path& place : places()) {
    if (!names.empty()) break;  // those of the first place hide those of the second
    for (const char* folder : {"configs", "experiments"}) {
      std::error_code error;
      for (fs::recursive_directory_iterator entry(place / folder, error), end; !error && entry != end;
           entry.increment(error)) {
        if (entry.depth() == 1) entry.disable_recursion_pending();  // data and runs, which may be large
        if (entry->path().extension() == ".yaml")
          names.push_back(kShipped + entry->path().lexically_relative(place).string());
      }
    }
  }
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(start); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headprune
