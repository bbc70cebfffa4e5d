// Weights that stand in a folder in another form than safetensors, or in numbers that this program does not compute
// with: what they are, and what to do.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

/// Throws Error(run_failed) where config.json says that the weights are quantised.
void refuse_quantised(const Json& config, const std::string& where);
/// The tensors by whose names or types weights are known to be quantised.
std::vector<std::string> quantised_tensors(const std::vector<std::pair<std::string, bool>>& floating);

/// One sentence about the weights in a folder without safetensors: what the file is and how to convert it.
std::string foreign_weights(const std::filesystem::path& folder);
/// Whether a file holds weights, of any tool, or states of training that belong to them: an export does not copy it.
bool is_weight_file(const std::filesystem::path& path);

}  // namespace headprune
