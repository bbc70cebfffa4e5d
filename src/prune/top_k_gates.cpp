#include "prune/top_k_gates.h"

#include <cmath>
#include <limits>

#include "core/random.h"

namespace headprune {

TopKGates::TopKGates(const GateUnits& units, const Start& start) : units_(units), start_(start) {
  weight_ = torch::zeros({units.count()}, torch::kFloat64).requires_grad_();
}

double TopKGates::temperature(int64_t step) const {
  if (start_.steps < 2) return start_.to;
  const double part = static_cast<double>(step) / static_cast<double>(start_.steps - 1);
  return std::exp(std::log(start_.from) + part * (std::log(start_.to) - std::log(start_.from)));
}

torch::Tensor TopKGates::soft_top_k(const torch::Tensor& r, int64_t k, double temperature) {
  torch::Tensor left = r, gates = torch::zeros_like(r);
  for (int64_t chosen = 0; chosen < k; ++chosen) {
    const torch::Tensor p = torch::softmax(left / temperature, 0);
    gates = gates + p;
    // Far below every weight, so that what was chosen for sure is not chosen again.
    left = left + (1 - p).clamp_min(std::numeric_limits<double>::min()).log();
  }
  return gates;
}

PerBlock TopKGates::gates(int64_t step) {
  step_ = step;
  Random random(start_.seed, fmt::format("gates/{}", step));
  std::vector<double> gumbel;
  for (int64_t i = 0; i < units_.count(); ++i) {
    const double u = std::max(random.uniform(), std::numeric_limits<double>::min());
    gumbel.push_back(-std::log(-std::log(u)));
  }
  const torch::Tensor r = weight_ + torch::tensor(gumbel, torch::kFloat64);  // [U]
  torch::Tensor gates = soft_top_k(r, start_.k, temperature(step));
  if (start_.straight_through) {
    torch::Tensor hard = torch::zeros_like(r);
    hard.index_fill_(0, std::get<1>(r.detach().topk(start_.k)), 1);
    gates = hard + gates - gates.detach();
  }
  return units_.of_heads(gates.to(torch::kFloat32));
}

std::vector<std::pair<std::string, double>> TopKGates::measurements() const {
  return {{"temperature", temperature(step_)}};
}

}  // namespace headprune
