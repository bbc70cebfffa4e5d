// The safetensors format, complete with its rejections (docs/formats.md section 5), on bytes alone. Torch-free, so that
// the record can hold tensors and a fuzzer can run the parser; model/checkpoint.h turns these into torch tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace headprune {

/// In the order in which the writer sorts tensors.
enum class Dtype { U64, I64, F64, C64, F32, U32, I32, BF16, F16, U16, I16, I8, U8, BOOL };
const char* to_string(Dtype dtype);
/// Bytes of one element.
size_t dtype_bytes(Dtype dtype);

/// One tensor's place: `begin` and `end` are offsets into the data part.
struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;              // sorted by begin, end, name
  std::map<std::string, std::string> metadata;  // empty when the file has none
  uint64_t data_start = 0;                      // offset of the data part in the file
};

/// A tensor to be written: row-major little-endian bytes.
struct TensorBytes {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  std::string bytes;
};

/// Why a file was refused: `reason` is the name that the upstream tests use, for example "header_too_small".
class SafetensorsError : public Error {
 public:
  SafetensorsError(std::string reason, const std::string& sentence)
      : Error(ExitCode::run_failed, sentence), reason_(std::move(reason)) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// Header of a whole file's bytes. `where` names it in errors. Throws SafetensorsError.
SafetensorsHeader parse_safetensors(std::string_view file, const std::string& where);
/// The header of a file on disk, read with pread; sizes are checked against the file's.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& path);
/// Every tensor, by the order of the header, read to where `place` wants its bytes; null for a tensor without any.
void read_safetensors(const std::filesystem::path& path, const std::function<char*(const TensorInfo&)>& place);
/// A whole file: bytes of every tensor, by the order of the header.
std::vector<TensorBytes> read_safetensors(const std::filesystem::path& path);
/// The file's bytes. `metadata` is written first, after {"format":"pt"}.
std::string safetensors_bytes(std::vector<TensorBytes> tensors, const std::map<std::string, std::string>& metadata);

}  // namespace headprune
