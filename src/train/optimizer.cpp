#include "train/optimizer.h"

#include <torch/nn/utils/clip_grad.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "model/private_operators.h"

namespace headprune {
namespace {

/// Of layer_decay: how much lower the learning rate is.
double rate_factor(const Model& model, const std::string& name, double layer_decay) {
  if (layer_decay == 1) return 1;
  const std::optional<int64_t> above = model.layers_above(name);
  if (!above) fail(ExitCode::usage, "train.layer_decay needs a model of layers, which this one is not; leave it out");
  return std::pow(layer_decay, static_cast<double>(*above));
}

/// Takes one tensor out of `tensors`, on the CPU still.
torch::Tensor take(NamedTensors& tensors, const std::string& name, at::IntArrayRef shape, const std::string& where) {
  const auto at = tensors.find(name);
  if (at == tensors.end()) fail(ExitCode::run_failed, "{}: optimizer state has no tensor '{}'", where, name);
  const torch::Tensor tensor = at->second;
  if (tensor.sizes() != shape)
    fail(ExitCode::run_failed, "{}: optimizer state '{}' does not have the shape of its parameter", where, name);
  tensors.erase(at);
  return tensor;
}

}  // namespace

struct Optimizer::Impl {
  /// A parameter with AdamW's state of it, which is undefined before its first step.
  struct Stepped {
    std::string name;
    torch::Tensor parameter;
    torch::Tensor exp_avg, exp_avg_sq;  // as the parameter
    torch::Tensor step;                 // float32 scalar: steps taken
  };

  /// Parameters that are stepped alike.
  struct Group {
    double rate_factor = 1, weight_decay = 0;
    std::optional<double> own_rate = {};  // of parameters beside the model's
    std::vector<Stepped> members = {};
  };

  Impl(const Model& model, const TrainOptions& train) : options(train), groups(make_groups(model, train)) {}

  static std::vector<Group> make_groups(const Model& model, const TrainOptions& options) {
    std::map<std::pair<double, double>, Group> groups;
    for (const auto& item : model.named_parameters()) {
      const double factor = rate_factor(model, item.key(), options.layer_decay);
      const double weight_decay = item.value().dim() >= 2 ? options.weight_decay : 0;
      Group& group = groups[{factor, weight_decay}];
      group.rate_factor = factor;
      group.weight_decay = weight_decay;
      group.members.push_back(
          {.name = item.key(), .parameter = item.value(), .exp_avg = {}, .exp_avg_sq = {}, .step = {}});
    }
    std::vector<Group> all;
    for (auto& [key, group] : groups) all.push_back(std::move(group));
    return all;
  }

  TrainOptions options;
  std::vector<Group> groups;
};

Optimizer::Optimizer(const Model& model, const TrainOptions& options) : impl_(std::make_unique<Impl>(model, options)) {}
Optimizer::~Optimizer() = default;

void Optimizer::add(const NamedTensors& parameters, double learning_rate) {
  Impl::Group& group = impl_->groups.emplace_back();
  group.own_rate = learning_rate;
  for (const auto& [name, parameter] : parameters)
    group.members.push_back({.name = name, .parameter = parameter, .exp_avg = {}, .exp_avg_sq = {}, .step = {}});
}

void Optimizer::zero_grad() {
  for (auto& group : impl_->groups)
    for (auto& one : group.members) one.parameter.mutable_grad().reset();
}

double Optimizer::clip(double max_norm) {
  std::vector<torch::Tensor> parameters;
  for (const auto& group : impl_->groups)
    if (!group.own_rate)
      for (const auto& one : group.members) parameters.push_back(one.parameter);
  const double limit = max_norm > 0 ? max_norm : std::numeric_limits<double>::infinity();
  return torch::nn::utils::clip_grad_norm_(parameters, limit);
}

void Optimizer::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  const TrainOptions& options = impl_->options;
  for (auto& group : impl_->groups) {
    AdamWStep update{.parameters = {},
                     .gradients = {},
                     .exp_avgs = {},
                     .exp_avg_sqs = {},
                     .steps = {},
                     .learning_rate = group.own_rate.value_or(learning_rate * group.rate_factor),
                     .beta1 = options.adam_beta1,
                     .beta2 = options.adam_beta2,
                     .weight_decay = group.weight_decay,
                     .epsilon = options.adam_epsilon};
    for (auto& one : group.members) {
      if (!one.parameter.grad().defined()) continue;
      if (!one.step.defined()) {
        one.exp_avg = torch::zeros_like(one.parameter);
        one.exp_avg_sq = torch::zeros_like(one.parameter);
        one.step = torch::zeros({}, one.parameter.options().dtype(torch::kFloat32).requires_grad(false));
      }
      one.step.add_(1);
      update.parameters.push_back(one.parameter);
      update.gradients.push_back(one.parameter.grad());
      update.exp_avgs.push_back(one.exp_avg);
      update.exp_avg_sqs.push_back(one.exp_avg_sq);
      update.steps.push_back(one.step);
    }
    if (!update.parameters.empty()) adamw_step(update);
  }
}

NamedTensors Optimizer::state() const {
  NamedTensors tensors;
  for (const auto& group : impl_->groups)
    for (const auto& one : group.members) {
      if (!one.step.defined()) continue;
      tensors["exp_avg." + one.name] = one.exp_avg;
      tensors["exp_avg_sq." + one.name] = one.exp_avg_sq;
      tensors["step." + one.name] = one.step.to(torch::kCPU, torch::kInt64);
    }
  return tensors;
}

void Optimizer::load_state(const NamedTensors& tensors, const std::string& where) {
  NamedTensors left = tensors;
  for (auto& group : impl_->groups)
    for (auto& one : group.members) {
      one.exp_avg = one.exp_avg_sq = one.step = torch::Tensor();
      if (!left.contains("step." + one.name)) continue;  // never stepped
      const auto options = one.parameter.options().requires_grad(false);
      const auto moment = [&](const char* kind) {
        return take(left, kind + one.name, one.parameter.sizes(), where)
            .to(options, /*non_blocking=*/false, /*copy=*/true);
      };
      one.exp_avg = moment("exp_avg.");
      one.exp_avg_sq = moment("exp_avg_sq.");
      one.step = take(left, "step." + one.name, {}, where).to(options.dtype(torch::kFloat32));
    }
  if (!left.empty())
    fail(ExitCode::run_failed, "{}: optimizer state '{}' belongs to no parameter of the model", where,
         left.begin()->first);
}

}  // namespace headprune
