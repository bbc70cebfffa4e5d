// Files of others are opened in one way: regular ones only, since a FIFO waits for ever and a device has no end, and
// read no further than their kind may be large.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

/// A JSON file, or one of the small files of a run or a tokenizer, is never as large.
inline constexpr uint64_t kMaxJsonFile = uint64_t{128} << 20;  // bytes

/// A regular file, open for reading; what is not one is Error(usage) with the path and what it is.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::string& name() const { return name_; }
  /// As it was when the file was opened; 0 for files of /proc, which are made while they are read.
  uint64_t size() const { return size_; }
  /// Up to `count` bytes from `offset` on, fewer only at the end. Throws Error(usage).
  size_t read(char* to, size_t count, uint64_t offset) const;

 private:
  std::string name_;
  int file_;
  uint64_t size_ = 0;
};

/// The first `count` bytes, or fewer where the file is shorter: enough to recognise it.
std::string read_start(const std::filesystem::path& path, size_t count);
/// Throws Error(run_failed) for a file of more than `at_most` bytes, before it is read.
std::string read_file_up_to(const std::filesystem::path& path, uint64_t at_most);
/// parse_json() of a file of at most kMaxJsonFile.
Json read_json(const std::filesystem::path& path);

/// "a folder", "a FIFO", "a device" and the like, for a path that is no regular file.
std::string file_kind(unsigned mode);

}  // namespace headprune
