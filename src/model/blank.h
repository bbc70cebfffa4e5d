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

/// Makes this thread's new modules without values while it lives: whoever makes one fills every tensor of it, or puts
/// another in its place, before it is looked at. Memory that nobody writes to is not taken.
class WithoutValues {
 public:
  WithoutValues();
  ~WithoutValues();
  WithoutValues(const WithoutValues&) = delete;
  WithoutValues& operator=(const WithoutValues&) = delete;

 private:
  bool before_;
};

/// A parameter or buffer that is made now: float32 zeros on the CPU, unless one of the above says otherwise.
torch::Tensor blank(at::IntArrayRef shape);

}  // namespace headprune
