#include "model/blank.h"

namespace headprune {
namespace {

thread_local bool without_memory = false;

}  // namespace

WithoutMemory::WithoutMemory() : before_(without_memory) { without_memory = true; }

WithoutMemory::~WithoutMemory() { without_memory = before_; }

torch::TensorOptions blank_options() {
  return torch::TensorOptions(torch::kFloat32).device(without_memory ? torch::kMeta : torch::kCPU);
}

}  // namespace headprune
