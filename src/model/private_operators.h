// What LibTorch has under names that it does not promise to keep: operators that are faster or say more than what it
// documents. Each has a form made of documented ones beside it, which takes its place where the build found the private
// one missing (HEADPRUNE_PRIVATE_OPERATORS, decided when the build is configured).
#pragma once

#include <optional>
#include <vector>

#include "core/torch.h"

namespace headprune {

/// Whether this LibTorch offers oneDNN's x W^T + b, which it has for its compiler.
bool has_onednn_linear();
/// x W^T + b, float32 on the CPU, any strides; not differentiable. `bias` may be nothing.
torch::Tensor onednn_linear(const torch::Tensor& x, const torch::Tensor& weight, const std::optional<at::Tensor>& bias);

/// Softmax over the last axis, with zeros and not NaN for a row that is all -inf.
torch::Tensor safe_softmax(const torch::Tensor& scores);

/// One step of AdamW (Loshchilov and Hutter 2019, algorithm 2) for many parameters, in place.
struct AdamWStep {
  std::vector<torch::Tensor> parameters, gradients, exp_avgs, exp_avg_sqs;
  std::vector<torch::Tensor> steps;  // float32 scalars, this step counted
  double learning_rate = 0, beta1 = 0, beta2 = 0, weight_decay = 0, epsilon = 0;
};
void adamw_step(AdamWStep& step);

namespace documented {

torch::Tensor safe_softmax(const torch::Tensor& scores);
void adamw_step(AdamWStep& step);

}  // namespace documented
}  // namespace headprune
