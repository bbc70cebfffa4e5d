// parse_safetensors(): a header whose tensors tile the data part exactly, or our SafetensorsError. What it accepts is
// written again and must read back the same.
#include "core/safetensors.h"
#include "fuzz.h"

namespace headprune {
namespace {

void check(std::string_view file, const SafetensorsHeader& header) {
  uint64_t end = 0;
  std::vector<TensorBytes> tensors;
  for (const TensorInfo& tensor : header.tensors) {
    must(tensor.begin == end && tensor.end >= tensor.begin, "tensors are contiguous");
    end = tensor.end;
    must(header.data_start + end <= file.size(), "tensors lie inside the file");
    uint64_t bytes = dtype_bytes(tensor.dtype);
    for (const int64_t size : tensor.shape) {
      must(size >= 0, "sizes are not negative");
      bytes *= static_cast<uint64_t>(size);  // cannot overflow where the product is a size inside the file, or 0
    }
    must(bytes == tensor.end - tensor.begin, "shape and bytes agree");
    tensors.push_back({.name = tensor.name,
                       .dtype = tensor.dtype,
                       .shape = tensor.shape,
                       .bytes = std::string(file.substr(header.data_start + tensor.begin, bytes))});
  }
  must(header.data_start + end == file.size(), "tensors cover the data part");

  auto metadata = header.metadata;
  metadata.erase("format");  // the writer's own
  const std::string written = safetensors_bytes(tensors, metadata);
  const SafetensorsHeader again = parse_safetensors(written, "written");
  must(again.tensors.size() == tensors.size(), "every tensor is written");
  metadata["format"] = "pt";
  must(again.metadata == metadata, "metadata is written");
}

}  // namespace
}  // namespace headprune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headprune;
  const std::string_view file = as_text(data, size);
  try {
    check(file, parse_safetensors(file, "fuzz.safetensors"));
  } catch (const SafetensorsError& error) {
    must(error.code() == ExitCode::run_failed && !error.reason().empty(), "a refusal has a reason");
  }
  return 0;
}
