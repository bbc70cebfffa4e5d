// Reading, and the one way this program writes whole files and folders: to a temporary name, synced, renamed
// (docs/formats.md section 13). An interrupt or a full disk leaves the old content or nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace headprune {

namespace fs = std::filesystem;

/// The folder of the running executable, links resolved.
fs::path program_folder();

/// The whole file. Throws Error(usage) naming the path and the reason when it is missing, cannot be read or is no
/// regular file, Error(run_failed) when it is larger than the memory that is free. core/open_file.h has readers with
/// limits for each kind.
std::string read_file(const fs::path& path);

/// Whether a whole file is synced to the disk before its rename. A heartbeat need not be.
enum class Sync { yes, no };
/// Replaces `path` atomically; a link stays one, and the file that it names is replaced or made. Throws Error(usage)
/// where something else than a regular file is there, Error(io) with the path, the bytes needed and the bytes free; the
/// old file stays.
void write_file(const fs::path& path, std::string_view bytes, Sync sync = Sync::yes);

/// Whole files that are replaced together: the disk is waited for once, not once for each. write() throws as
/// write_file() and replaces nothing yet; commit() replaces them in the order of the writes. Whatever interrupts it,
/// each file is the old or the new one.
class FileBatch {
 public:
  FileBatch();
  ~FileBatch();
  FileBatch(const FileBatch&) = delete;
  FileBatch& operator=(const FileBatch&) = delete;
  void write(const fs::path& path, std::string_view bytes);
  void commit();

 private:
  struct Pending;
  std::vector<std::unique_ptr<Pending>> pending_;
};

/// One folder, whose parent must be there; nothing where it is there already. Error(io) on failure. A run folder that
/// was deleted under the program is not to come back half.
void make_folder(const fs::path& path);
/// mkdir -p; Error(usage) where something else is there, Error(io) on failure.
void make_folders(const fs::path& path);
/// fsync of a folder, so that renames in it last. Throws Error(io).
void sync_folder(const fs::path& path);
/// Bytes that an unprivileged user may still write on the file system of `path` (or of its nearest existing parent).
uint64_t bytes_free(const fs::path& path);

/// A folder that appears whole or not at all: files go to NAME.tmp-PID/, commit() writes manifest.json, syncs and
/// renames; an existing folder of that name, or that a link of that name leads to, is replaced, but nothing else than a
/// folder. Its parent must be there. Not committed: the temporary is removed; what a writer that was killed left of it
/// is removed by the next one.
class FolderWriter {
 public:
  explicit FolderWriter(fs::path target);
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;
  /// `name` is a file name, or a path of such below the folder: "seed-1/log".
  void write(const std::string& name, std::string_view bytes);
  /// Where the files stand until commit(), to be read back and checked.
  const fs::path& temporary() const { return temporary_; }
  /// Returns the SHA-256 of the manifest.
  std::string commit();

 private:
  fs::path target_, temporary_;
  Json files_ = Json::array();
  bool committed_ = false;
};

/// Whether the folder's manifest.json is one of FolderWriter's, not another tool's. False where there is none.
bool is_manifest(const fs::path& folder);
/// Empty when manifest.json is there and every file it lists has its size and SHA-256; else one sentence saying what
/// is wrong.
std::string verify_manifest(const fs::path& folder);
/// Removes leftovers of interrupted writes (.tmp-*, *.tmp-*) directly inside `folder`.
void remove_temporaries(const fs::path& folder);

}  // namespace headprune
