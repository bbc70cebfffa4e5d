// The linear layer of every model family.
#pragma once

#include <memory>

#include "core/torch.h"
#include "model/linear.h"

namespace headprune {

/// How the layers of one model multiply; null: by BLAS, in float32.
using SharedProducts = std::shared_ptr<const Products>;

/// y = x W^T + b. Own module, not torch::nn::Linear: either size may be 0 (a block without heads), and the weights are
/// filled by model/transformer_model.h's initialise(), not by the process-wide random generator. Starts as zeros.
class Projection : public torch::nn::Module {
 public:
  Projection(int64_t inputs, int64_t outputs, bool has_bias = true, SharedProducts products = {});
  torch::Tensor forward(const torch::Tensor& x) const;
  /// The same for a model's last layer, which keeps every digit.
  torch::Tensor read_out(const torch::Tensor& x) const { return linear_layer(x, weight, bias, products().library); }
  /// `x` as a factor of a product beside this layer.
  torch::Tensor factor(const torch::Tensor& x) const { return as_factor(x, products().type); }

  torch::Tensor weight;  // [outputs, inputs]
  torch::Tensor bias;    // [outputs]; undefined without

 private:
  Products products() const { return products_ ? *products_ : Products(); }

  SharedProducts products_;
};

}  // namespace headprune
