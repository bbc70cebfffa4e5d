#include "prune/hard_concrete_gates.h"

#include <cmath>

#include "core/random.h"

namespace headprune {

namespace {

/// Uniform numbers are kept off 0 and 1, whose logarithms are infinite (Voita et al.'s code).
constexpr double kEpsilon = 1e-6;

}  // namespace

HardConcreteGates::HardConcreteGates(const GateUnits& units, const Start& start) : units_(units), start_(start) {
  log_alpha_ = torch::full({units.count()}, start.log_alpha, torch::kFloat64).requires_grad_();
}

torch::Tensor HardConcreteGates::sample(const torch::Tensor& log_alpha, const torch::Tensor& u) {
  const torch::Tensor s = torch::sigmoid((u.log() - (1 - u).log() + log_alpha) / kBeta);
  return (s * (kZeta - kGamma) + kGamma).clamp(0, 1);
}

PerBlock HardConcreteGates::gates(int64_t step) {
  Random random(start_.seed, fmt::format("gates/{}", step));
  std::vector<double> u;
  for (int64_t i = 0; i < units_.count(); ++i) u.push_back(kEpsilon + (1 - 2 * kEpsilon) * random.uniform());
  return units_.of_heads(sample(log_alpha_, torch::tensor(u, torch::kFloat64)).to(torch::kFloat32));
}

torch::Tensor HardConcreteGates::open_probability() const {
  return torch::sigmoid(log_alpha_ - kBeta * std::log(-kGamma / kZeta));
}

torch::Tensor HardConcreteGates::penalty() const { return (start_.lambdas * open_probability()).sum(); }

std::vector<std::pair<std::string, double>> HardConcreteGates::measurements() const {
  return {{"open_heads", open_probability().sum().item<double>()}};
}

torch::Tensor HardConcreteGates::closed() const { return log_alpha_.detach() <= 0; }

}  // namespace headprune
