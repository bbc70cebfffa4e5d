// What parameters are made of before they have values.
#pragma once

#include "core/torch.h"

namespace headprune {

/// Makes this thread's new modules outlines while it lives: their tensors have shapes and no memory (the meta device).
class WithoutMemory {
 public:
  WithoutMemory();
  ~WithoutMemory();
  WithoutMemory(const WithoutMemory&) = delete;
  WithoutMemory& operator=(const WithoutMemory&) = delete;

 private:
  bool before_;
};

/// Options of a parameter that is made now: float32 on the CPU, or without memory.
torch::TensorOptions blank_options();

}  // namespace headprune
