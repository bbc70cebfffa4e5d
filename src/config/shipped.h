// Files that come with the program: configs/ (parts for `extends`) and experiments/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headprune {

/// What a name begins with that stands for such a file, from any folder: "headprune:configs/train/fine_tune.yaml".
/// A path that really begins so is written "./headprune:...".
inline constexpr const char* kShipped = "headprune:";

bool is_shipped(const std::string& name);

/// The file that a name with kShipped stands for. Throws Error(usage) with the folders looked in.
std::filesystem::path shipped_file(const std::string& name);

/// Names of all shipped YAML files, sorted, that begin with `start`.
std::vector<std::string> shipped_names(const std::string& start = kShipped);

}  // namespace headprune
