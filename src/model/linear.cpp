#include "model/linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "model/private_operators.h"

namespace headprune {
namespace {

using Bias = std::optional<at::Tensor>;

bool is_amd_with_avx512() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0 && __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

class OnednnLinear : public torch::autograd::Function<OnednnLinear> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const Bias& bias) {
    const torch::Tensor none;
    context->save_for_backward({weight.requires_grad() ? x : none, x.requires_grad() ? weight : none});
    context->saved_data["biased"] = bias.has_value();
    return onednn_linear(x, weight, bias);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor y = gradients[0].contiguous().flatten(0, -2);  // [N, outputs]
    torch::Tensor x_gradient, weight_gradient, bias_gradient;
    if (context->needs_input_grad(0)) {
      std::vector<int64_t> shape = gradients[0].sizes().vec();
      shape.back() = saved[1].size(1);
      x_gradient = onednn_linear(y, saved[1].t(), std::nullopt).view(shape);  // [..., inputs]
    }
    if (context->needs_input_grad(1))
      weight_gradient = onednn_linear(y.t(), saved[0].flatten(0, -2).t(), std::nullopt);  // [outputs, inputs]
    if (context->saved_data["biased"].toBool() && context->needs_input_grad(2)) bias_gradient = y.sum(0);  // [outputs]
    return {x_gradient, weight_gradient, bias_gradient};
  }
};

bool serves_onednn(const torch::Tensor& x, const torch::Tensor& weight) {
  return x.scalar_type() == torch::kFloat32 && weight.scalar_type() == torch::kFloat32 && x.is_cpu() && x.dim() >= 2 &&
         x.numel() > 0 && weight.numel() > 0;
}

}  // namespace

Products products_of(LinearLibrary library, ComputeType type) {
  if (library == LinearLibrary::onednn && !has_onednn_linear())
    fail(ExitCode::usage, "runtime.linear is onednn, which this LibTorch does not offer: use auto or blas");
  if (library == LinearLibrary::automatic)
    library = has_onednn_linear() && is_amd_with_avx512() ? LinearLibrary::onednn : LinearLibrary::blas;
  return {.library = library, .type = type};
}

bool has_bfloat16_products() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;  // as every processor with AMX does
#else
  return true;  // not known
#endif
}

torch::Tensor as_factor(const torch::Tensor& x, ComputeType type) {
  return type == ComputeType::bfloat16 && x.scalar_type() == torch::kFloat32 ? x.to(torch::kBFloat16) : x;
}

torch::Tensor linear_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                           LinearLibrary library) {
  const Bias shift = bias.defined() ? Bias(bias) : std::nullopt;
  if (library != LinearLibrary::onednn || !serves_onednn(x, weight)) return at::linear(x, weight, shift);
  const bool differentiated =
      at::GradMode::is_enabled() && (x.requires_grad() || weight.requires_grad() || (shift && shift->requires_grad()));
  return differentiated ? OnednnLinear::apply(x.contiguous(), weight, shift)
                        : onednn_linear(x.contiguous(), weight, shift);
}

}  // namespace headprune
