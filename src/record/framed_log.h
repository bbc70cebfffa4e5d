// Append-only JSON Lines whose last key is a CRC-32C of the line before it (docs/formats.md section 7). A line is one
// write(2) on an O_APPEND descriptor, so a kill leaves at most one torn line at the end; readers ignore that line and a
// writer that continues cuts it off first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

inline constexpr size_t kMaxFramedLine = 64 * 1024;  // bytes, newline included

/// Whether a line is on the disk when append() returns.
enum class Durable { yes, no };

/// The line for `fields` (an object without crc32c), newline included. Throws std::length_error beyond kMaxFramedLine.
std::string frame_line(const Json& fields);

struct FramedLines {
  std::vector<Json> lines;   // without crc32c; line i of the file is lines[i - 1]
  uint64_t valid_bytes = 0;  // where a torn tail begins; the file's size when there is none
  bool torn = false;
};

/// All good lines. A torn last line is left out; a bad line elsewhere throws Error(run_failed) naming file and line. A
/// missing file has no lines.
FramedLines read_framed(const std::filesystem::path& path);

/// One writer at a time: the run folder's lock sees to that.
class FramedLog {
 public:
  /// Opens or creates the file, and cuts a torn tail off. `content` receives what was there, where wanted.
  explicit FramedLog(const std::filesystem::path& path, FramedLines* content = nullptr);
  ~FramedLog();
  FramedLog(const FramedLog&) = delete;
  FramedLog& operator=(const FramedLog&) = delete;

  /// Throws Error(io) on a full disk, quota or file size limit; the file then ends with the last whole line.
  void append(const Json& fields, Durable durable);
  /// Throws Error(io) where the file at the path is not the open one any more: it was deleted, moved or replaced, and
  /// what is written goes where nobody reads it.
  void require_in_place() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;  // bytes of whole lines
};

}  // namespace headprune
