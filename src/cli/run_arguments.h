// What commands that read a finished run have in common.
#pragma once

#include <filesystem>
#include <string>

namespace headprune {

/// The baseline of a run when none is named: check.baseline of its config.yaml, else expected.json beside the
/// experiment file; empty when the run does not say where that was.
std::filesystem::path default_baseline(const std::filesystem::path& run_folder);

/// Before a command writes into a folder that may be an archive: throws Error(io) naming the option that takes another.
void require_writable(const std::filesystem::path& folder, const char* option);

/// `path` as seen from the current folder where it lies inside, else absolute.
std::string shown_path(const std::filesystem::path& path);

}  // namespace headprune
