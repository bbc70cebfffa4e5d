#include "train/optimizer.h"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headprune {
namespace {

using NamedParameters = std::vector<std::pair<std::string, torch::Tensor>>;

NamedParameters named_parameters(const Model& model) {
  NamedParameters all;
  for (const auto& item : model.named_parameters()) all.emplace_back(item.key(), item.value());
  return all;
}

/// Parameters that are stepped alike.
struct Group {
  double rate_factor = 1;
  bool decays = false;
  std::vector<torch::Tensor> parameters = {};
};

std::vector<Group> make_groups(const Model& model, const NamedParameters& parameters, const TrainOptions& options) {
  std::map<std::pair<int64_t, bool>, Group> groups;  // by layers above, and whether weights do not decay
  for (const auto& [name, parameter] : parameters) {
    int64_t above = 0;
    if (options.layer_decay != 1) {
      const std::optional<int64_t> known = model.layers_above(name);
      if (!known)
        fail(ExitCode::usage, "train.layer_decay needs a model of layers, which this one is not; leave it out");
      above = *known;
    }
    const bool decays = parameter.dim() >= 2;
    Group& group = groups[{above, !decays}];
    group.rate_factor = std::pow(options.layer_decay, static_cast<double>(above));
    group.decays = decays;
    group.parameters.push_back(parameter);
  }
  std::vector<Group> found;
  for (auto& [key, group] : groups) found.push_back(std::move(group));
  return found;
}

/// Learning rates are the factors, until step() sets them.
torch::optim::AdamW make_adamw(const std::vector<Group>& groups, const TrainOptions& options) {
  const auto options_of = [&](const Group& group) {
    torch::optim::AdamWOptions all(group.rate_factor);
    all.betas({options.adam_beta1, options.adam_beta2}).eps(options.adam_epsilon);
    all.weight_decay(group.decays ? options.weight_decay : 0);
    return all;
  };
  std::vector<torch::optim::OptimizerParamGroup> all;
  for (const Group& group : groups)
    all.emplace_back(group.parameters, std::make_unique<torch::optim::AdamWOptions>(options_of(group)));
  return torch::optim::AdamW(all, options_of({}));
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
  Impl(const Model& model, const TrainOptions& options)
      : parameters(named_parameters(model)), adamw(make_adamw(make_groups(model, parameters, options), options)) {
    for (const auto& group : adamw.param_groups()) rate_factors.push_back(group.options().get_lr());
  }

  NamedParameters parameters;
  std::vector<double> rate_factors;  // of adamw's groups
  torch::optim::AdamW adamw;
};

Optimizer::Optimizer(const Model& model, const TrainOptions& options) : impl_(std::make_unique<Impl>(model, options)) {}
Optimizer::~Optimizer() = default;

void Optimizer::zero_grad() { impl_->adamw.zero_grad(/*set_to_none=*/true); }

double Optimizer::clip(double max_norm) {
  std::vector<torch::Tensor> parameters;
  for (const auto& [name, parameter] : impl_->parameters) parameters.push_back(parameter);
  const double limit = max_norm > 0 ? max_norm : std::numeric_limits<double>::infinity();
  return torch::nn::utils::clip_grad_norm_(parameters, limit);
}

void Optimizer::step(double learning_rate) {
  for (size_t i = 0; i < impl_->rate_factors.size(); ++i)
    impl_->adamw.param_groups()[i].options().set_lr(learning_rate * impl_->rate_factors[i]);
  impl_->adamw.step();
}

NamedTensors Optimizer::state() const {
  NamedTensors tensors;
  for (const auto& [name, parameter] : impl_->parameters) {
    const auto at = impl_->adamw.state().find(parameter.unsafeGetTensorImpl());
    if (at == impl_->adamw.state().end()) continue;
    const auto& moments = static_cast<const torch::optim::AdamWParamState&>(*at->second);
    tensors["exp_avg." + name] = moments.exp_avg();
    tensors["exp_avg_sq." + name] = moments.exp_avg_sq();
    tensors["step." + name] = torch::scalar_tensor(moments.step(), torch::kInt64);
  }
  return tensors;
}

void Optimizer::load_state(const NamedTensors& tensors, const std::string& where) {
  NamedTensors left = tensors;
  impl_->adamw.state().clear();
  for (const auto& [name, parameter] : impl_->parameters) {
    if (!left.contains("step." + name)) continue;  // never stepped
    auto moments = std::make_unique<torch::optim::AdamWParamState>();
    const auto moment = [&, &key = name, &like = parameter](const char* kind) {
      return take(left, kind + key, like.sizes(), where)
          .to(like.options().requires_grad(false), /*non_blocking=*/false,
              /*copy=*/true);
    };
    moments->exp_avg(moment("exp_avg."));
    moments->exp_avg_sq(moment("exp_avg_sq."));
    moments->step(take(left, "step." + name, {}, where).item<int64_t>());
    impl_->adamw.state()[parameter.unsafeGetTensorImpl()] = std::move(moments);
  }
  if (!left.empty())
    fail(ExitCode::run_failed, "{}: optimizer state '{}' belongs to no parameter of the model", where,
         left.begin()->first);
}

}  // namespace headprune
