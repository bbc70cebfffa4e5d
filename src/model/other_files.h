// What a model folder holds beside the files that this program writes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"

namespace headprune {

/// Copies every file of `from` that `to` does not have yet, folders inside it included: generation_config.json, a
/// licence, a tokenizer's files. Not copied: weights in any form, which are not the new model's, checkpoints of a
/// training, manifest.json, and what begins with a point. With `at_most`, no file of more bytes either. Returns the
/// weights and manifests of others that were left out, by their path inside the folder.
std::vector<std::string> copy_other_files(const std::filesystem::path& from, FolderWriter& to,
                                          std::optional<uint64_t> at_most = std::nullopt);

}  // namespace headprune
