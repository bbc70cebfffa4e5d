#include "model/projection.h"

#include "model/blank.h"

namespace headprune {

Projection::Projection(int64_t inputs, int64_t outputs, bool has_bias, SharedProducts products)
    : weight(register_parameter("weight", blank({outputs, inputs}))), products_(std::move(products)) {
  if (has_bias) bias = register_parameter("bias", blank({outputs}));
}

torch::Tensor Projection::forward(const torch::Tensor& x) const {
  return linear_layer(factor(x), factor(weight), bias.defined() ? factor(bias) : bias, products().library)
      .to(x.scalar_type());
}

}  // namespace headprune
