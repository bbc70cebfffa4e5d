// The linear layer of every model family.
#pragma once

#include "core/torch.h"
#include "model/linear.h"

namespace headprune {

/// y = x W^T + b. Own module, not torch::nn::Linear: either size may be 0 (a block without heads), and the weights are
/// filled by model/transformer_model.h's initialise(), not by the process-wide random generator. Starts as zeros.
class Projection : public torch::nn::Module {
 public:
  Projection(int64_t inputs, int64_t outputs, bool has_bias = true);
  torch::Tensor forward(const torch::Tensor& x) const {
    return linear_layer(as_factor(x), as_factor(weight), bias.defined() ? as_factor(bias) : bias).to(x.scalar_type());
  }
  /// The same for a model's last layer, which keeps every digit.
  torch::Tensor read_out(const torch::Tensor& x) const { return linear_layer(x, weight, bias); }

  torch::Tensor weight;  // [outputs, inputs]
  torch::Tensor bias;    // [outputs]; undefined without
};

}  // namespace headprune
