// The safetensors files of a model folder: one, or shards with an index (docs/formats.md section 5).
#pragma once

#include <filesystem>
#include <vector>

#include "model/model.h"

namespace headprune {

inline constexpr const char* kWeights = "model.safetensors";
inline constexpr const char* kIndex = "model.safetensors.index.json";

/// One file, or every shard of the index in the order of their names. Throws Error(run_failed): a shard that is missing
/// or whose name leaves the folder, a damaged index.
std::vector<std::filesystem::path> weight_files(const std::filesystem::path& folder);
/// All tensors. Throws Error(run_failed) for shards that do not hold what the index says.
NamedTensors read_weights(const std::filesystem::path& folder);
/// The same from the headers alone: tensors without memory.
NamedTensors read_weight_outlines(const std::filesystem::path& folder);

}  // namespace headprune
