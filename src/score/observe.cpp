#include "score/observe.h"

#include "core/error.h"
#include "model/attention.h"
#include "score/accumulate.h"

namespace headprune {
namespace {

torch::ScalarType model_type(const Model& model) {
  for (const torch::Tensor& parameter : model.parameters())
    if (parameter.is_floating_point()) return parameter.scalar_type();
  return torch::kFloat32;
}

torch::Device model_device(const Model& model) {
  const auto parameters = model.parameters();
  return parameters.empty() ? torch::Device(torch::kCPU) : parameters.front().device();
}

/// The four weights of one block, in the order of ProjectionGradients.
std::vector<torch::Tensor> projection_weights(Attention& attention) {
  return {attention.query().weight, attention.key().weight, attention.value().weight, attention.output().weight};
}

/// Cuts gradients of the four weights into heads and groups.
ProjectionGradients by_head(const torch::Tensor* gradients, const Attention& attention) {
  const int64_t heads = attention.head_count(), width = attention.d_model();
  const int64_t groups = std::ssize(attention.groups());
  return {.query = gradients[0].view({heads, attention.key_width(), width}),                        // [H, Dk, C]
          .output = gradients[3].view({width, heads, attention.value_width()}).permute({1, 0, 2}),  // [H, C, Dv]
          .key = gradients[1].view({groups, attention.key_width(), width}),                         // [G, Dk, C]
          .value = gradients[2].view({groups, attention.value_width(), width})};                    // [G, Dv, C]
}

void require_finite_losses(const torch::Tensor& losses, const Batch& batch) {
  const torch::Tensor bad = losses.isfinite().logical_not();  // [B]
  if (!bad.any().item<bool>()) return;
  const int64_t at = bad.nonzero()[0].item<int64_t>();
  fail(ExitCode::run_failed,
       "scoring: the loss of example {} of the score split is {}; the model overflows there: train "
       "it further or differently, or leave that example out",
       batch.examples[static_cast<size_t>(at)], losses[at].item<double>());
}

}  // namespace

Observer::Observer(const ScoreInput& input, const Needs& needs)
    : input_(input), needs_(needs), blocks_(input.model.blocks()), frozen_(input.model) {
  for (const torch::Tensor& survives : surviving_heads(blocks_, input.removed))
    kept_.push_back(survives.numel() > 0 ? survives.to(model_device(input.model), model_type(input.model))
                                         : torch::Tensor());
  if (!needs_.weight_gradients) return;
  for (size_t b = 0; b < blocks_.size(); ++b)
    for (torch::Tensor weight : projection_weights(input_.model.attention(b))) weight.requires_grad_();
}

PerBlock Observer::batch_gates(const Batch& batch) const {
  PerBlock gates;
  for (const torch::Tensor& kept : kept_) {
    if (!kept.defined()) {
      gates.emplace_back();
      continue;
    }
    gates.push_back(kept.expand({batch.size(), -1}).clone());  // [B, H]
    if (needs_.gate_gradients) gates.back().requires_grad_();
  }
  return gates;
}

Observation Observer::observe(const Batch& batch) const {
  const c10::AutoGradMode gradients_wanted(needs_.any_gradient());
  HeadProbe probe;
  probe.gates = batch_gates(batch);
  probe.weights = needs_.attention_weights;
  probe.contexts = needs_.contexts || needs_.context_gradients;
  ModelOutput output = input_.model.forward(batch, probe);

  Observation seen{batch, std::move(output.heads), {}, {}, {}};
  if (needs_.any_gradient()) {
    const torch::Tensor losses = input_.task.example_losses(output.values, batch);  // [B]
    require_finite_losses(losses.detach(), batch);
    // Examples do not touch each other, so the gradient of the sum holds each example's own.
    std::vector<torch::Tensor> leaves;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].heads.empty()) continue;
      if (needs_.gate_gradients) leaves.push_back(probe.gates[b]);
      if (needs_.context_gradients) leaves.push_back(seen.trace.contexts[b]);
      if (needs_.weight_gradients)
        for (const torch::Tensor& weight : projection_weights(input_.model.attention(b))) leaves.push_back(weight);
    }
    const auto gradients = torch::autograd::grad({losses.sum()}, leaves);  // throws if the model ignored a gate
    size_t next = 0;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const bool some = !blocks_[b].heads.empty();
      if (needs_.gate_gradients) seen.gate_gradients.push_back(some ? gradients[next++] : torch::Tensor());
      if (needs_.context_gradients) seen.context_gradients.push_back(some ? gradients[next++] : torch::Tensor());
      if (needs_.weight_gradients) {
        seen.weight_gradients.emplace_back();
        if (some) seen.weight_gradients.back() = by_head(&gradients[next], input_.model.attention(b)), next += 4;
      }
    }
  }
  for (torch::Tensor& context : seen.trace.contexts) context = context.detach();
  for (torch::Tensor& weights : seen.trace.weights) weights = weights.detach();
  return seen;
}

}  // namespace headprune
