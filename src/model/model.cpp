#include "model/model.h"

#include <algorithm>
#include <numeric>

#include "model/checkpoint.h"

namespace headprune {

torch::Tensor gates_of(const PerBlock& gates, size_t block) {
  return gates.empty() ? torch::Tensor() : gates.at(block);
}

int64_t Paused::bytes() const {
  int64_t sum = 0;
  for (const torch::Tensor& tensor : {residual, context, memory})
    if (tensor.defined()) sum += static_cast<int64_t>(tensor.nbytes());
  return sum;
}

std::vector<size_t> Model::order() const {
  std::vector<size_t> order(blocks().size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Paused Model::pause(const Batch&, size_t block, const Paused*) {
  return {.block = block, .residual = {}, .context = {}, .memory = {}};
}

ModelOutput Model::resume(const Batch& batch, const Paused&, const PerBlock& gates) {
  return forward(batch, {.gates = gates});
}

NamedTensors Model::tensors() const { return state(*this); }

int64_t parameter_count(const Model& model) {
  int64_t count = 0;
  for (const torch::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

PerBlock mask_gates(const Blocks& blocks, const HeadSet& removed, torch::Device device) {
  PerBlock gates;
  for (const BlockHeads& block : blocks) {
    std::vector<float> values;
    for (const int64_t head : block.heads) values.push_back(removed.contains({block.id, head}) ? 0.0f : 1.0f);
    const bool loses = std::find(values.begin(), values.end(), 0.0f) != values.end();
    gates.push_back(loses ? torch::tensor(values, torch::kFloat32).to(device) : torch::Tensor());  // [H]
  }
  return gates;
}

FrozenModel::FrozenModel(Model& model) : model_(model), training_(model.is_training()) {
  for (torch::Tensor& parameter : model.parameters()) {
    requires_grad_.emplace_back(parameter, parameter.requires_grad());
    parameter.set_requires_grad(false);
  }
  model.eval();
}

FrozenModel::~FrozenModel() {
  for (auto& [parameter, requires_grad] : requires_grad_) parameter.set_requires_grad(requires_grad);
  model_.train(training_);
}

}  // namespace headprune
