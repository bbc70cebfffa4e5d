#include "core/safetensors.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/json.h"
#include "core/open_file.h"
#include "core/text.h"

static_assert(std::endian::native == std::endian::little,
              "safetensors holds little-endian numbers, copied as they are");

namespace headprune {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";

struct DtypeRow {
  Dtype dtype;
  const char* name;
  size_t bytes;
};
constexpr DtypeRow kDtypes[] = {
    {Dtype::U64, "U64", 8}, {Dtype::I64, "I64", 8},   {Dtype::F64, "F64", 8}, {Dtype::C64, "C64", 8},
    {Dtype::F32, "F32", 4}, {Dtype::U32, "U32", 4},   {Dtype::I32, "I32", 4}, {Dtype::BF16, "BF16", 2},
    {Dtype::F16, "F16", 2}, {Dtype::U16, "U16", 2},   {Dtype::I16, "I16", 2}, {Dtype::I8, "I8", 1},
    {Dtype::U8, "U8", 1},   {Dtype::BOOL, "BOOL", 1},
};

const DtypeRow& dtype_row(Dtype dtype) {
  for (const auto& row : kDtypes) {
    if (row.dtype == dtype) return row;
  }
  throw std::logic_error("no such dtype");
}

/// Parses one header; every refusal goes through refuse(), which names the file.
class HeaderParser {
 public:
  explicit HeaderParser(const std::string& where) : where_(where) {}

  /// The header's length, from the first 8 bytes of a file of `file_size` bytes.
  uint64_t header_length(std::string_view start, uint64_t file_size) const {
    if (file_size < kLengthBytes) refuse("header_too_small", "{} bytes are too few for a safetensors file", file_size);
    uint64_t length = 0;
    for (size_t i = kLengthBytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(start[i]);
    if (length > kMaxHeader) refuse("header_too_large", "a header of {} bytes; at most {}", length, kMaxHeader);
    if (kLengthBytes + length > file_size) {
      refuse("invalid_header_length", "a header of {} bytes in a file of {} bytes", length, file_size);
    }
    return length;
  }

  SafetensorsHeader parse(std::string_view text, uint64_t file_size) const {
    if (const auto bad = invalid_utf8(text)) {
      refuse("invalid_header_non_utf8", "the header is not UTF-8 at byte {}", kLengthBytes + *bad);
    }
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '{') {
      refuse("invalid_header_start", "the header does not begin with '{{'");
    }
    SafetensorsHeader header;
    header.data_start = kLengthBytes + text.size();
    const Json json = parse_text(text);
    for (const auto& [name, value] : json.items()) {
      if (name == kMetadata) {
        header.metadata = metadata(value);
      } else {
        header.tensors.push_back(tensor(name, value));
      }
    }
    auto& tensors = header.tensors;
    std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    uint64_t end = 0;
    for (const auto& info : tensors) {
      if (info.begin != end) {
        refuse("invalid_offset", "tensor {} begins at {} where {} was expected (overlap or hole)", info.name,
               info.begin, end);
      }
      end = info.end;
    }
    if (end != file_size - header.data_start) {
      refuse("metadata_incomplete_buffer", "the header describes {} bytes of data, the file holds {}", end,
             file_size - header.data_start);
    }
    return header;
  }

  template <class... Args>
  [[noreturn]] void refuse(const char* reason, fmt::format_string<Args...> text, Args&&... args) const {
    throw SafetensorsError(
        reason, fmt::format("{}: {}; get the file again", where_, fmt::format(text, std::forward<Args>(args)...)));
  }

 private:
  Json parse_text(std::string_view text) const {
    try {
      return parse_json(text, "header");
    } catch (const DuplicateKeyError& error) {
      refuse("duplicate_name", "{}", error.what());
    } catch (const Error& error) {
      refuse("invalid_header_not_json", "{}", error.what());
    }
  }

  std::map<std::string, std::string> metadata(const Json& value) const {
    if (!value.is_object()) refuse("invalid_metadata", "{} is not an object", kMetadata);
    std::map<std::string, std::string> result;
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) refuse("invalid_metadata", "{}.{} is not text", kMetadata, key);
      result[key] = text.get<std::string>();
    }
    return result;
  }

  TensorInfo tensor(const std::string& name, const Json& value) const {
    const auto part = [&](const char* key, bool (Json::*right_type)() const) -> const Json& {
      if (!value.is_object() || !value.contains(key) || !(value.at(key).*right_type)()) {
        refuse("invalid_tensor", "tensor {} has no proper {}", name, key);
      }
      return value.at(key);
    };
    TensorInfo info;
    info.name = name;
    const DtypeRow& row = dtype(name, part("dtype", &Json::is_string).get<std::string>());
    info.dtype = row.dtype;
    uint64_t bytes = row.bytes;
    bool has_zero = false;
    for (const auto& entry : part("shape", &Json::is_array)) {
      const uint64_t size = natural(name, entry);
      // A size of 0 must not hide sizes whose strides would overflow.
      has_zero = has_zero || size == 0;
      if (size > INT64_MAX || __builtin_mul_overflow(bytes, std::max<uint64_t>(1, size), &bytes)) {
        refuse("validation_overflow", "the shape of tensor {} is too large", name);
      }
      info.shape.push_back(static_cast<int64_t>(size));
    }
    if (has_zero) bytes = 0;
    const Json& offsets = part("data_offsets", &Json::is_array);
    if (offsets.size() != 2) refuse("invalid_tensor", "tensor {} has no proper data_offsets", name);
    info.begin = natural(name, offsets[0]);
    info.end = natural(name, offsets[1]);
    if (info.end < info.begin || info.end - info.begin != bytes) {
      refuse("invalid_info", "tensor {} needs {} bytes but lies at {} to {}", name, bytes, info.begin, info.end);
    }
    return info;
  }

  const DtypeRow& dtype(const std::string& tensor_name, const std::string& name) const {
    for (const auto& row : kDtypes) {
      if (name == row.name) return row;
    }
    refuse("unsupported_dtype", "tensor {} has the unsupported dtype {}{}", tensor_name, name,
           name.starts_with("F8") || name.starts_with("F6") || name.starts_with("F4")
               ? ": the weights are quantised; give the file that they were made from"
               : "");
  }

  uint64_t natural(const std::string& tensor_name, const Json& value) const {
    if (!value.is_number_unsigned()) {
      refuse("invalid_number", "a size or offset of tensor {} is not a whole number from 0", tensor_name);
    }
    return value.get<uint64_t>();
  }

  const std::string& where_;
};

/// In pieces by pread: a mapping would raise SIGBUS if the file were cut meanwhile.
void read_piece(const OpenFile& file, uint64_t offset, uint64_t count, char* to) {
  if (file.read(to, count, offset) < count)
    HeaderParser(file.name()).refuse("metadata_incomplete_buffer", "the file was cut while it was read");
}

std::string read_piece(const OpenFile& file, uint64_t offset, uint64_t count) {
  std::string bytes(count, '\0');
  read_piece(file, offset, count, bytes.data());
  return bytes;
}

SafetensorsHeader read_header(const OpenFile& file) {
  const HeaderParser parser(file.name());
  const std::string start = read_piece(file, 0, std::min(kLengthBytes, file.size()));
  const uint64_t length = parser.header_length(start, file.size());
  return parser.parse(read_piece(file, kLengthBytes, length), file.size());
}

void require_writable(const std::vector<TensorBytes>& tensors) {
  std::set<std::string_view> names;
  for (const auto& tensor : tensors) {
    size_t bytes = dtype_bytes(tensor.dtype);
    for (const int64_t size : tensor.shape) bytes *= static_cast<size_t>(size);
    const bool fresh = names.insert(tensor.name).second && tensor.name != kMetadata;
    if (!fresh || bytes != tensor.bytes.size() || invalid_utf8(tensor.name)) {
      throw std::logic_error("safetensors_bytes: bad name or size of tensor " + tensor.name);
    }
  }
}

}  // namespace

const char* to_string(Dtype dtype) { return dtype_row(dtype).name; }

size_t dtype_bytes(Dtype dtype) { return dtype_row(dtype).bytes; }

SafetensorsHeader parse_safetensors(std::string_view file, const std::string& where) {
  const HeaderParser parser(where);
  const uint64_t length = parser.header_length(file, file.size());
  return parser.parse(file.substr(kLengthBytes, length), file.size());
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) { return read_header(OpenFile(path)); }

void read_safetensors(const std::filesystem::path& path, const std::function<char*(const TensorInfo&)>& place) {
  const OpenFile file(path);
  const SafetensorsHeader header = read_header(file);
  for (const TensorInfo& info : header.tensors)
    if (char* const to = place(info)) read_piece(file, header.data_start + info.begin, info.end - info.begin, to);
}

std::vector<TensorBytes> read_safetensors(const std::filesystem::path& path) {
  std::vector<TensorBytes> tensors;
  read_safetensors(path, [&](const TensorInfo& info) {
    TensorBytes& tensor = tensors.emplace_back(TensorBytes{info.name, info.dtype, info.shape, {}});
    tensor.bytes.resize(info.end - info.begin);
    return tensor.bytes.data();
  });
  return tensors;
}

std::string safetensors_bytes(std::vector<TensorBytes> tensors, const std::map<std::string, std::string>& metadata) {
  require_writable(tensors);
  std::sort(tensors.begin(), tensors.end(), [](const TensorBytes& a, const TensorBytes& b) {
    return std::tie(a.dtype, a.name) < std::tie(b.dtype, b.name);
  });
  Json header = {{kMetadata, {{"format", "pt"}}}};
  for (const auto& [key, text] : metadata) header[kMetadata][key] = text;
  uint64_t end = 0;
  for (const auto& tensor : tensors) {
    const uint64_t begin = std::exchange(end, end + tensor.bytes.size());
    header[tensor.name] = {{"dtype", to_string(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = dump_json(header);
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  std::string bytes;
  bytes.reserve(kLengthBytes + text.size() + end);
  for (uint64_t i = 0, length = text.size(); i < kLengthBytes; ++i) bytes += static_cast<char>(length >> (8 * i));
  bytes += text;
  for (const auto& tensor : tensors) bytes += tensor.bytes;
  return bytes;
}

}  // namespace headprune
