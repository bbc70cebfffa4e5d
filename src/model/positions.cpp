#include "model/positions.h"

namespace headprune {

torch::Tensor sinusoids(const torch::Tensor& places, int64_t d_model, const torch::TensorOptions& options,
                        bool halves) {
  const auto exact = torch::TensorOptions(torch::kFloat64).device(options.device());
  const torch::Tensor pair = torch::arange((d_model + 1) / 2, exact) * (2.0 / static_cast<double>(d_model));
  const torch::Tensor angles = places.to(exact).unsqueeze(1) * torch::pow(10000.0, -pair);        // [T, C/2]
  const torch::Tensor both = halves ? at::cat({angles.sin(), angles.cos()}, 1)                    // [T, C or C + 1]
                                    : torch::stack({angles.sin(), angles.cos()}, -1).flatten(1);  // [T, C or C + 1]
  return both.narrow(1, 0, d_model).to(options.dtype());                                          // [T, C]
}

torch::Tensor sinusoidal_positions(int64_t length, int64_t d_model, const torch::TensorOptions& options, bool halves) {
  const torch::Tensor places = torch::arange(length, torch::TensorOptions(torch::kInt64).device(options.device()));
  return sinusoids(places, d_model, options, halves);  // [T, C]
}

}  // namespace headprune
