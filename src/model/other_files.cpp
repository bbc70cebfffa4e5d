#include "model/other_files.h"

#include <algorithm>

#include "model/foreign_weights.h"
#include "model/weight_files.h"

namespace headprune {

namespace {

bool is_skipped_folder(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name.starts_with("checkpoint-");
}

}  // namespace

std::vector<std::string> copy_other_files(const fs::path& from, FolderWriter& to, std::optional<uint64_t> at_most) {
  std::vector<std::string> names, left_out;
  std::error_code error;
  for (fs::recursive_directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory() && is_skipped_folder(at->path())) at.disable_recursion_pending();
    if (!at->is_regular_file() || at->path().filename().string().starts_with('.')) continue;
    names.push_back(at->path().lexically_relative(from).string());
  }
  if (error) fail(ExitCode::usage, "cannot list the files below {}: {}", from.string(), error.message());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (fs::exists(to.temporary() / name)) continue;
    // Of the source's own weights nothing needs to be said.
    const bool weights = is_weight_file(name), own = fs::path(name).parent_path().empty() &&
                                                     (name == kIndex || fs::path(name).extension() == ".safetensors");
    if (name == "manifest.json" && is_manifest(from)) continue;
    if (weights || name == "manifest.json") {
      if (!own) left_out.push_back(name);
      continue;
    }
    if (at_most && fs::file_size(from / name) > *at_most) continue;
    to.write(name, read_file(from / name));
  }
  return left_out;
}

}  // namespace headprune
