#include "model/projection.h"

#include "model/blank.h"

namespace headprune {

Projection::Projection(int64_t inputs, int64_t outputs, bool has_bias)
    : weight(register_parameter("weight", torch::zeros({outputs, inputs}, blank_options()))) {
  if (has_bias) bias = register_parameter("bias", torch::zeros({outputs}, blank_options()));
}

}  // namespace headprune
