#include "train/gate_learner.h"

#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "model/checkpoint.h"

namespace headprune {

PerBlock GateLearner::open(int64_t step) {
  made_ = source_.gates(step);
  cut_.clear();
  for (const torch::Tensor& gates : made_)
    cut_.push_back(gates.defined() ? gates.detach().to(device_).requires_grad_() : gates);
  return cut_;
}

std::vector<std::pair<std::string, double>> GateLearner::close() {
  std::vector<torch::Tensor> roots, gradients;
  for (size_t b = 0; b < made_.size(); ++b) {
    if (!made_[b].defined() || !cut_[b].grad().defined()) continue;
    roots.push_back(made_[b]);
    gradients.push_back(cut_[b].grad().to(made_[b].device()));
  }
  std::vector<std::pair<std::string, double>> measured;
  if (const torch::Tensor penalty = source_.penalty(); penalty.defined()) {
    roots.push_back(penalty);
    gradients.push_back(torch::ones_like(penalty));
    measured.emplace_back("penalty", penalty.item<double>());
  }
  if (!roots.empty()) torch::autograd::backward(roots, gradients);
  double squares = 0;
  for (const auto& [name, parameter] : source_.parameters())
    if (parameter.grad().defined()) squares += parameter.grad().square().sum().item<double>();
  measured.emplace_back("gate_grad_norm", std::sqrt(squares));
  for (auto& one : source_.measurements()) measured.push_back(std::move(one));
  made_.clear();
  cut_.clear();
  return measured;
}

void GateLearner::load(const NamedTensors& tensors, const std::string& where) {
  const NamedTensors parameters = source_.parameters();
  if (const std::vector<std::string> problems = tensor_problems(parameters, tensors); !problems.empty())
    fail(ExitCode::run_failed, "{}: gates of another training: {}", where, join(problems, "; "));
  const torch::NoGradGuard no_gradients;
  for (const auto& [name, parameter] : parameters) torch::Tensor(parameter).copy_(tensors.at(name));
}

}  // namespace headprune
