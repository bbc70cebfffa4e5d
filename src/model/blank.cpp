#include "model/blank.h"

namespace headprune {
namespace {

thread_local bool without_memory = false, without_values = false;

}  // namespace

WithoutMemory::WithoutMemory() : before_(without_memory) { without_memory = true; }

WithoutMemory::~WithoutMemory() { without_memory = before_; }

WithoutValues::WithoutValues() : before_(without_values) { without_values = true; }

WithoutValues::~WithoutValues() { without_values = before_; }

torch::Tensor blank(at::IntArrayRef shape) {
  if (without_memory) return torch::empty(shape, torch::kMeta);
  return without_values ? torch::empty(shape) : torch::zeros(shape);
}

}  // namespace headprune
