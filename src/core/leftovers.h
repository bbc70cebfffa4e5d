// What writers left that were killed: temporary names with the process id of a process that is gone.
#pragma once

#include <filesystem>

namespace headprune {

/// Removes, once a process and folder, files .tmp-PID-N inside `folder`. They may be of another host, whose processes
/// cannot be asked, so only those that nobody has written to for an hour.
void remove_abandoned_files(const std::filesystem::path& folder);
/// Removes the folders NAME.tmp-PID beside the folder `target` that is called NAME. Two hosts do not write one of these
/// at a time.
void remove_abandoned_folders(const std::filesystem::path& target);

}  // namespace headprune
