// What computes: two machines whose numbers are compared must not be taken for one.
#pragma once

#include <string>

namespace headprune {

/// The name of "cpu", "cuda" (the first device) or "cuda:N". A GPU's comes from NVIDIA's driver library, which every
/// LibTorch that computes on one has loaded; "unknown" where `driver` has no such device or cannot be loaded.
std::string device_name(const std::string& device, const std::string& driver = "libcuda.so.1");

}  // namespace headprune
