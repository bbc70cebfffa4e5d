// What parameters are made of before they have values.
#pragma once

#include "core/torch.h"

namespace headprune {

/// How this thread's new modules are made.
enum class Blank {
  zeros,
  without_values,  // whoever makes one fills every tensor of it, or puts another in its place, before it is looked at;
                   // memory that nobody writes to is not taken
  without_memory   // outlines: their tensors have shapes and no memory (the meta device)
};

class MadeBlank {
 public:
  explicit MadeBlank(Blank how);
  ~MadeBlank();
  MadeBlank(const MadeBlank&) = delete;
  MadeBlank& operator=(const MadeBlank&) = delete;

 private:
  Blank before_;
};

/// New modules are outlines while it lives.
struct WithoutMemory : MadeBlank {
  WithoutMemory() : MadeBlank(Blank::without_memory) {}
};

/// A parameter or buffer that is made now, float32.
torch::Tensor blank(at::IntArrayRef shape);

}  // namespace headprune
