#include "model/exact_difference.h"

#include <algorithm>

namespace headprune {

ExactDifference exact_difference(const Model& masked, const PerBlock& gates, const Model& removed, const Batch& batch) {
  const torch::NoGradGuard no_grad;
  const auto in_float64 = [&](const Model& model, const PerBlock& its_gates) {
    const std::shared_ptr<Model> copy = model.copy();
    copy->to(torch::kFloat64);
    copy->eval();
    HeadProbe probe;
    probe.gates = its_gates;
    return copy->forward(batch, probe).values;
  };
  const torch::Tensor first = in_float64(masked, gates), second = in_float64(removed, {});
  const double largest = std::max(1.0, first.abs().max().item<double>());
  return {.difference = (first - second).abs().max().item<double>(), .tolerance = kExactTolerance * largest};
}

}  // namespace headprune
