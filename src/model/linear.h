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

/// What the factors of matrix products are rounded to: those of hidden layers, and of queries, keys and values.
/// Weights, sums, softmax, losses, gradients of gates and what a model gives out stay float32 (mixed precision,
/// Micikevicius et al. 2018, without its loss scaling, which bfloat16's range makes needless).
enum class ComputeType { float32, bfloat16 };
template <>
struct EnumNames<ComputeType> {
  static constexpr std::pair<const char*, ComputeType> names[] = {{"float32", ComputeType::float32},
                                                                  {"bfloat16", ComputeType::bfloat16}};
};

/// Whether this processor multiplies bfloat16 itself; where not, it is slower than float32.
bool has_bfloat16_products();

/// How a model multiplies: it travels with the model (TransformerModel::use()).
struct Products {
  LinearLibrary library = LinearLibrary::blas;  // not automatic
  ComputeType type = ComputeType::float32;

  bool operator==(const Products&) const = default;
};
/// `automatic` becomes what is faster on this kind of processor; not by a measurement, so that the same machine always
/// takes the same. Throws Error(usage) where onednn is asked for and this LibTorch has none.
Products products_of(LinearLibrary library, ComputeType type);

/// `x` as a factor of a product: rounded where `type` says so and `x` is float32, else itself.
torch::Tensor as_factor(const torch::Tensor& x, ComputeType type);

/// x W^T + b: `x` [..., inputs], `weight` [outputs, inputs], `bias` [outputs] or undefined, to [..., outputs].
/// Differentiable once; no gradient is computed, and nothing kept for one, that nobody needs. oneDNN serves float32 on
/// the CPU; everything else is at::linear.
torch::Tensor linear_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                           LinearLibrary library);

}  // namespace headprune
