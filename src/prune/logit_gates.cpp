#include "prune/logit_gates.h"

namespace headprune {

LogitGates::LogitGates(const GateUnits& units, const Start& start)
    : units_(units), pull_(start.pull), clamp_(start.clamp), logit_(start.logits.detach().clone().requires_grad_()) {}

PerBlock LogitGates::gates(int64_t) { return units_.of_heads(torch::sigmoid(logit_).to(torch::kFloat32)); }

void LogitGates::confine() {
  const torch::NoGradGuard no_gradients;
  logit_.clamp_(-clamp_, clamp_);
}

std::vector<std::pair<std::string, double>> LogitGates::measurements() const {
  return {{"open_heads", values().sum().item<double>()}};
}

}  // namespace headprune
