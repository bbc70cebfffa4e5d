// Models that a run leaves: the trained one, those of training steps, those of points.
#pragma once

#include <filesystem>
#include <string>

#include "run/workspace.h"

namespace headprune {

/// Writes a model as a folder of its own, replacing one that an interrupted attempt left. `mask` is its mask_sha256.
/// Returns the SHA-256 of the manifest.
std::string save_model(const Workspace& workspace, const Model& model, const std::string& mask,
                       const std::filesystem::path& folder);

}  // namespace headprune
