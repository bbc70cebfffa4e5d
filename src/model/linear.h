// The one matrix product of every model family. LibTorch holds two libraries for it, and which of them is faster
// depends on the processor: on AMD's with AVX-512, MKL keeps to AVX2 kernels, which oneDNN does not.
#pragma once

#include "config/fields.h"
#include "core/torch.h"

namespace headprune {

enum class LinearLibrary { automatic, blas, onednn };
template <>
struct EnumNames<LinearLibrary> {
  static constexpr std::pair<const char*, LinearLibrary> names[] = {
      {"auto", LinearLibrary::automatic}, {"blas", LinearLibrary::blas}, {"onednn", LinearLibrary::onednn}};
};

/// Says for the whole process which library linear_layer() uses, as the number of threads is said: once, before any
/// tensor work. `automatic` goes by the kind of processor, not by a measurement, so that the same machine always takes
/// the same. Gives what is used. Throws Error(usage) where onednn is asked for and this LibTorch has none.
LinearLibrary use_linear_library(LinearLibrary wanted);
LinearLibrary linear_library();

/// x W^T + b: `x` [..., inputs], `weight` [outputs, inputs], `bias` [outputs] or undefined, to [..., outputs].
/// Differentiable once; no gradient is computed, and nothing kept for one, that nobody needs. oneDNN serves float32 on
/// the CPU; everything else is at::linear.
torch::Tensor linear_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias);

}  // namespace headprune
