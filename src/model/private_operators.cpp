#include "model/private_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <cmath>
#include <limits>

namespace headprune {
namespace {

constexpr const char* kOnednnLinear = "mkldnn::_linear_pointwise";

}  // namespace

namespace documented {

torch::Tensor safe_softmax(const torch::Tensor& scores) {
  const torch::Tensor blind = scores.eq(-std::numeric_limits<double>::infinity()).all(-1, true);
  return at::softmax(scores, -1).masked_fill(blind, 0);
}

void adamw_step(AdamWStep& step) {
  for (size_t i = 0; i < step.parameters.size(); ++i) {
    torch::Tensor& parameter = step.parameters[i];
    const torch::Tensor& gradient = step.gradients[i];
    const double t = step.steps[i].item<double>();
    parameter.mul_(1 - step.learning_rate * step.weight_decay);
    step.exp_avgs[i].lerp_(gradient, 1 - step.beta1);
    step.exp_avg_sqs[i].mul_(step.beta2).addcmul_(gradient, gradient, 1 - step.beta2);
    const double first = 1 - std::pow(step.beta1, t), second = 1 - std::pow(step.beta2, t);
    const torch::Tensor scale = step.exp_avg_sqs[i].sqrt().div_(std::sqrt(second)).add_(step.epsilon);
    parameter.addcdiv_(step.exp_avgs[i], scale, -step.learning_rate / first);
  }
}

}  // namespace documented

#if HEADPRUNE_PRIVATE_OPERATORS

bool has_onednn_linear() {
  static const bool found =
      at::globalContext().hasMKLDNN() && c10::Dispatcher::singleton().findSchema({kOnednnLinear, ""}).has_value();
  return found;
}

torch::Tensor onednn_linear(const torch::Tensor& x, const torch::Tensor& weight,
                            const std::optional<at::Tensor>& bias) {
  using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, std::string_view,
                               c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(kOnednnLinear, "").typed<Signature>();
  return op.call(x, weight, bias, /*attr=*/"none", c10::List<std::optional<at::Scalar>>(), /*algorithm=*/"");
}

torch::Tensor safe_softmax(const torch::Tensor& scores) { return at::_safe_softmax(scores, -1); }

void adamw_step(AdamWStep& step) {
  at::_fused_adamw_(step.parameters, step.gradients, step.exp_avgs, step.exp_avg_sqs, /*max_exp_avg_sqs=*/{},
                    step.steps, step.learning_rate, step.beta1, step.beta2, step.weight_decay, step.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false);
}

#else

bool has_onednn_linear() { return false; }

torch::Tensor onednn_linear(const torch::Tensor& x, const torch::Tensor& weight,
                            const std::optional<at::Tensor>& bias) {
  return at::linear(x, weight, bias);
}

torch::Tensor safe_softmax(const torch::Tensor& scores) { return documented::safe_softmax(scores); }

void adamw_step(AdamWStep& step) { documented::adamw_step(step); }

#endif

}  // namespace headprune
