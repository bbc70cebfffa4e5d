#include "record/device_name.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <memory>

#include "record/host.h"

namespace headprune {
namespace {

/// LibTorch's own ways to a GPU's name need CUDA's headers, which a build for the CPU has not. The driver's functions
/// for it have had the same types since CUDA 2.
std::string gpu_name(int index, const std::string& driver) {
  const auto close = [](void* library) { dlclose(library); };
  const std::unique_ptr<void, decltype(close)> library(dlopen(driver.c_str(), RTLD_LAZY | RTLD_LOCAL), close);
  if (!library) return "unknown";
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library.get(), "cuInit"));
  const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(library.get(), "cuDeviceGet"));
  const auto name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(library.get(), "cuDeviceGetName"));
  std::array<char, 256> text{};
  int handle = 0;
  if (!init || !get || !name || init(0) != 0 || get(&handle, index) != 0 ||
      name(text.data(), static_cast<int>(text.size()) - 1, handle) != 0)
    return "unknown";
  return text.data();
}

}  // namespace

std::string device_name(const std::string& device, const std::string& driver) {
  if (!device.starts_with("cuda")) return host_info().cpu;
  int index = 0;
  const size_t colon = device.find(':');
  if (colon != std::string::npos) std::from_chars(device.data() + colon + 1, device.data() + device.size(), index);
  return gpu_name(index, driver);
}

}  // namespace headprune
