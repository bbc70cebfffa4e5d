#include "model/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/blank.h"
#include "model/dropout.h"

namespace headprune {
namespace {

/// Keeps the entries `kept` of axis `axis`, which is made of H slices of `width`.
void keep_slices(torch::Tensor& parameter, int64_t axis, int64_t width, const torch::Tensor& kept) {
  if (parameter.is_meta()) {  // an outline, which LibTorch cannot select from
    std::vector<int64_t> shape = parameter.sizes().vec();
    shape[static_cast<size_t>(axis)] = kept.numel() * width;
    return parameter.set_data(torch::empty(shape, parameter.options()));
  }
  torch::Tensor rows = kept.unsqueeze(1) * width + torch::arange(width, kept.options());  // [H, width]
  rows = rows.flatten().to(parameter.device());                                           // [H width]
  parameter.set_data(parameter.detach().index_select(axis, rows).contiguous());
  parameter.mutable_grad().reset();
}

}  // namespace

Projection::Projection(int64_t inputs, int64_t outputs)
    : weight(register_parameter("weight", torch::zeros({outputs, inputs}, blank_options()))),
      bias(register_parameter("bias", torch::zeros({outputs}, blank_options()))) {}

Visibility::Visibility(Pattern pattern, torch::Tensor keys_present)
    : pattern_(pattern), keys_present_(std::move(keys_present)) {}

torch::Tensor Visibility::mask(int64_t queries, int64_t keys, torch::Device device) const {
  torch::Tensor mask;
  if (padded()) mask = keys_present_.unsqueeze(1).unsqueeze(1);  // [B, 1, 1, S]
  if (pattern_ == Pattern::causal) {
    const auto options = torch::TensorOptions(torch::kBool).device(device);
    const torch::Tensor past = torch::ones({queries, keys}, options).tril();          // [T, S]
    mask = mask.defined() ? mask.logical_and(past) : past.unsqueeze(0).unsqueeze(0);  // [B or 1, 1, T, S]
  }
  return mask;
}

Attention::Attention(int64_t d_model, const HeadLayout& layout, double dropout)
    : d_model_(d_model),
      key_width_(layout.key_width),
      value_width_(layout.value_width),
      dropout_(dropout),
      heads_(static_cast<size_t>(layout.heads)) {
  TORCH_CHECK(layout.groups == layout.heads, "every head has its own keys and values");
  std::iota(heads_.begin(), heads_.end(), 0);
  const int64_t keys = layout.heads * key_width_, values = layout.heads * value_width_;
  query_ = register_module("query", std::make_shared<Projection>(d_model, keys));
  key_ = register_module("key", std::make_shared<Projection>(d_model, keys));
  value_ = register_module("value", std::make_shared<Projection>(d_model, values));
  output_ = register_module("output", std::make_shared<Projection>(values, d_model));
}

torch::Tensor Attention::split_heads(const torch::Tensor& x, int64_t width) const {
  return x.view({x.size(0), x.size(1), head_count(), width}).transpose(1, 2);  // [B, H, T, width]
}

torch::Tensor Attention::explicit_weights(const torch::Tensor& q, const torch::Tensor& k,
                                          const torch::Tensor& mask) const {
  const double scale = 1.0 / std::sqrt(static_cast<double>(key_width_));
  torch::Tensor scores = at::matmul(as_factor(q * scale), k.transpose(2, 3)).to(q.scalar_type());  // [B, H, T, S]
  if (mask.defined()) scores = scores.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
  // Unlike softmax it gives zeros, not NaN, for a row that sees nothing.
  return at::_safe_softmax(scores, -1);
}

KeyValues Attention::project(const torch::Tensor& keys) const {
  if (head_count() == 0) {
    const int64_t B = keys.size(0), S = keys.size(1);
    return {keys.new_zeros({B, 0, S, key_width_}), keys.new_zeros({B, 0, S, value_width_})};
  }
  return {.keys = as_factor(split_heads(key_->forward(keys), key_width_)),         // [B, H, S, Dk]
          .values = as_factor(split_heads(value_->forward(keys), value_width_))};  // [B, H, S, Dv]
}

HeadContexts Attention::attend(const torch::Tensor& queries, const KeyValues& looked_at, const Visibility& visibility,
                               bool weights) {
  const torch::Tensor &k = looked_at.keys, &v = looked_at.values;
  const int64_t B = queries.size(0), T = queries.size(1), S = k.size(2);
  TORCH_CHECK(visibility.pattern() == Pattern::full || T == S, "a causal pattern needs as many keys as queries");
  HeadContexts heads;
  if (head_count() == 0) {
    heads.context = queries.new_zeros({B, 0, T, value_width_});
    if (weights) heads.weights = queries.new_zeros({B, 0, T, S});
    return heads;
  }

  const torch::Tensor q = split_heads(query_->forward(queries), key_width_);  // [B, H, T, Dk]
  const double dropout = is_training() ? dropout_ : 0.0;
  // On the CPU the fused kernel has no dropout; LibTorch would take this way too, with its own slow random numbers.
  if (weights || (dropout > 0 && q.is_cpu())) {
    const torch::Tensor seen = explicit_weights(q, k, visibility.mask(T, S, q.device()));  // [B, H, T, S]
    if (weights) heads.weights = seen;
    const torch::Tensor kept = apply_dropout(seen, dropout, is_training());    // [B, H, T, S]
    heads.context = at::matmul(as_factor(kept), v).to(queries.scalar_type());  // [B, H, T, Dv]
    return heads;
  }
  // The kernel has its own fast form of a causal pattern without padding; otherwise it is given a mask.
  const bool is_causal = visibility.pattern() == Pattern::causal && !visibility.padded();
  std::optional<torch::Tensor> mask;
  if (!is_causal && (visibility.padded() || visibility.pattern() == Pattern::causal))
    mask = visibility.mask(T, S, q.device());
  heads.context = at::scaled_dot_product_attention(as_factor(q), k, v, mask, dropout, is_causal)
                      .to(queries.scalar_type());  // [B, H, T, Dv]
  return heads;
}

torch::Tensor Attention::combine(const torch::Tensor& context, const torch::Tensor& gates) const {
  const int64_t B = context.size(0), T = context.size(2), H = head_count();
  TORCH_CHECK(context.size(1) == H, "a block with ", H, " heads needs as many contexts, not ", context.sizes());
  if (H == 0) return output_->bias.expand({B, T, d_model_});  // [B, T, C]
  torch::Tensor gated = context;
  if (gates.defined()) {
    TORCH_CHECK(gates.size(-1) == H, "a block with ", H, " heads needs as many gates, not ", gates.sizes());
    gated = context * gates.to(context.scalar_type()).unsqueeze(-1).unsqueeze(-1);  // [B, H, T, Dv]
  }
  return output_->forward(gated.transpose(1, 2).reshape({B, T, H * value_width_}));  // [B, T, C]
}

void Attention::remove_heads(const std::vector<int64_t>& ids) {
  std::vector<int64_t> kept_positions, kept_ids;
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (std::find(ids.begin(), ids.end(), heads_[i]) != ids.end()) continue;
    kept_positions.push_back(static_cast<int64_t>(i));
    kept_ids.push_back(heads_[i]);
  }
  if (kept_ids.size() == heads_.size()) return;
  const torch::Tensor kept = torch::tensor(kept_positions, torch::kInt64);  // [H]
  for (Projection* projection : {query_.get(), key_.get(), value_.get()}) {
    const int64_t width = projection == value_.get() ? value_width_ : key_width_;
    keep_slices(projection->weight, 0, width, kept);  // [H width, C]
    keep_slices(projection->bias, 0, width, kept);    // [H width]
  }
  keep_slices(output_->weight, 1, value_width_, kept);  // [C, H Dv]
  heads_ = kept_ids;
}

}  // namespace headprune
