#include "model/model.h"

#include "model/checkpoint.h"

namespace headprune {

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
    gates.push_back(torch::tensor(values, torch::kFloat32).to(device));  // [H]
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
