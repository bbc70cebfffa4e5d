#include "model/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/dropout.h"
#include "model/local_pattern.h"
#include "model/private_operators.h"

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

/// [B, T, n width] to [B, n, T, width].
torch::Tensor split_heads(const torch::Tensor& x, int64_t width) {
  return x.view({x.size(0), x.size(1), x.size(2) / width, width}).transpose(1, 2);  // [B, n, T, width]
}

/// Positions of the entries of `all` that are not in `gone`.
std::vector<int64_t> kept_positions(const std::vector<int64_t>& all, const std::vector<int64_t>& gone) {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < all.size(); ++i)
    if (std::find(gone.begin(), gone.end(), all[i]) == gone.end()) kept.push_back(static_cast<int64_t>(i));
  return kept;
}

std::vector<int64_t> entries(const std::vector<int64_t>& all, const std::vector<int64_t>& positions) {
  std::vector<int64_t> chosen;
  for (const int64_t position : positions) chosen.push_back(all[static_cast<size_t>(position)]);
  return chosen;
}

}  // namespace

Attention::Attention(const AttentionConfig& config)
    : config_(config), heads_(static_cast<size_t>(config.layout.heads)) {
  const HeadLayout& layout = config.layout;
  TORCH_CHECK(layout.groups > 0 && layout.heads % layout.groups == 0, layout.heads, " heads in ", layout.groups,
              " groups");
  std::iota(heads_.begin(), heads_.end(), 0);
  groups_ = groups_of(heads_);
  const auto make = [&](const char* name, int64_t inputs, int64_t outputs, bool bias) {
    return register_module(name, std::make_shared<Projection>(inputs, outputs, bias, config.products));
  };
  query_ = make("query", config.d_model, layout.heads * layout.key_width, config.bias);
  key_ = make("key", config.d_model, layout.groups * layout.key_width, config.bias);
  value_ = make("value", config.d_model, layout.groups * layout.value_width, config.bias);
  output_ = make("output", layout.heads * layout.value_width, config.d_model, config.output_bias);
  positions_ = config.positions;
  if (config.own_positions) register_module("positions", positions_);
  if (!config.head_norm) return;
  query_norm_ = register_module("query_norm", std::make_shared<Norm>(layout.key_width, *config.head_norm));
  key_norm_ = register_module("key_norm", std::make_shared<Norm>(layout.key_width, *config.head_norm));
}

std::vector<int64_t> Attention::groups_of(const std::vector<int64_t>& heads) const {
  return BlockHeads{.id = {}, .heads = heads, .heads_per_group = heads_per_group()}.groups();
}

torch::Tensor Attention::for_heads(const torch::Tensor& of_groups) const {
  if (groups_.size() == heads_.size()) return of_groups;  // [B, H, S, D]
  std::vector<int64_t> rows;
  for (const int64_t head : heads_)
    rows.push_back(std::lower_bound(groups_.begin(), groups_.end(), config_.layout.group_of(head)) - groups_.begin());
  return of_groups.index_select(1, torch::tensor(rows, torch::kInt64).to(of_groups.device()));  // [B, H, S, D]
}

double Attention::scale() const { return 1.0 / std::sqrt(static_cast<double>(key_width())); }

bool Attention::is_explicit(const torch::Tensor& q, bool weights) const {
  // On the CPU the fused kernel has no dropout; LibTorch would take this way too, with its own slow random numbers.
  const bool dropped = is_training() && config_.dropout > 0 && q.is_cpu();
  return weights || dropped || (positions_ && positions_->adds_values());
}

HeadContexts Attention::explicit_contexts(const Call& call, const torch::Tensor& bias) const {
  torch::Tensor scores = at::matmul(query_->factor(call.q * scale()), call.k.transpose(2, 3)).to(call.q.scalar_type());
  if (bias.defined()) scores = scores + bias;  // [B, H, T, S]
  if (call.mask.defined())
    scores = scores.masked_fill(call.mask.logical_not(), -std::numeric_limits<double>::infinity());
  HeadContexts heads;
  heads.weights = safe_softmax(scores);                                                     // [B, H, T, S]
  const torch::Tensor kept = apply_dropout(heads.weights, config_.dropout, is_training());  // [B, H, T, S]
  heads.context = at::matmul(value_->factor(kept), call.v).to(call.q.scalar_type());        // [B, H, T, Dv]
  if (positions_ && positions_->adds_values()) heads.context = heads.context + positions_->values(kept, call.extent);
  return heads;
}

HeadContexts Attention::contexts(const Call& call, bool weights) const {
  Call asked = call;
  torch::Tensor bias;  // [B or 1, H, T, S]
  if (positions_) {
    if (positions_->biases())
      bias = positions_->bias({.queries = call.q, .heads = heads_, .extent = call.extent, .scale = scale()});
    if (bias.defined() && bias.dim() == 3) bias = bias.unsqueeze(0);
    asked.q = positions_->meeting_keys(call.q);
  }
  if (is_explicit(call.q, weights)) {
    HeadContexts heads = explicit_contexts(asked, bias);
    if (!weights) heads.weights.reset();
    return heads;
  }
  // What is added to scores goes into the kernel with what hides keys.
  std::optional<torch::Tensor> mask;
  if (bias.defined())
    mask = call.mask.defined()
               ? at::where(call.mask, bias, torch::full({}, -std::numeric_limits<double>::infinity(), bias.options()))
               : bias;
  else if (call.mask.defined())
    mask = call.mask;
  const double dropout = is_training() ? config_.dropout : 0.0;
  return {.context = at::scaled_dot_product_attention(query_->factor(asked.q), call.k, call.v, mask, dropout,
                                                      call.causal)
                         .to(call.q.scalar_type()),  // [B, H, T, Dv]
          .weights = {}};
}

std::optional<HeadContexts> Attention::near_contexts(const Call& call, const Visibility& visibility) const {
  const std::optional<Reach> reach = visibility.pattern().reach();
  if (!reach) return std::nullopt;
  const int64_t T = call.extent.queries, S = call.extent.keys, first = call.extent.offset;
  if (T == S && first == 0) {
    const LocalBlocks blocks(*reach, T);
    if (!blocks.pays()) return std::nullopt;
    const Call near{
        .q = blocks.queries(call.q),
        .k = blocks.keys(call.k),
        .v = blocks.keys(call.v),
        .extent = blocks.extent(),
        .mask = blocks.mask(visibility.pattern(), visibility.keys_present(), call.q.size(0), call.q.device())};
    return HeadContexts{.context = blocks.joined(contexts(near, false).context), .weights = {}};
  }
  // Few queries of a long text: the keys around them.
  const int64_t from = std::max<int64_t>(0, first - reach->back);
  const int64_t count = std::min(S, first + T + reach->ahead) - from;
  if (count >= S) return std::nullopt;
  Call near{.q = call.q,
            .k = call.k.narrow(2, from, count),
            .v = call.v.narrow(2, from, count),
            .extent = {.queries = T, .keys = count, .offset = first - from},
            .mask = {}};
  near.mask = visibility.narrowed(from, count).mask(near.extent, call.q.device(), heads_);
  return contexts(near, false);
}

KeyValues Attention::project(const torch::Tensor& keys, int64_t first) const {
  if (head_count() == 0) {
    const int64_t B = keys.size(0), S = keys.size(1);
    return {keys.new_zeros({B, 0, S, key_width()}), keys.new_zeros({B, 0, S, value_width()})};
  }
  torch::Tensor k = split_heads(key_->forward(keys), key_width());  // [B, G, S, Dk]
  if (key_norm_) k = key_norm_->forward(k);
  if (positions_) k = positions_->turn(k, first);
  return {.keys = key_->factor(k), .values = value_->factor(split_heads(value_->forward(keys), value_width()))};
}

HeadContexts Attention::attend(const torch::Tensor& queries, const KeyValues& looked_at, const Visibility& visibility,
                               bool weights, int64_t first) {
  const int64_t B = queries.size(0), T = queries.size(1), S = looked_at.keys.size(2);
  HeadContexts heads;
  if (head_count() == 0) {
    heads.context = queries.new_zeros({B, 0, T, value_width()});
    if (weights) heads.weights = queries.new_zeros({B, 0, T, S});
    return heads;
  }

  const torch::Tensor k = for_heads(looked_at.keys), v = for_heads(looked_at.values);  // [B, H, S, Dk], [B, H, S, Dv]
  torch::Tensor q = split_heads(query_->forward(queries), key_width());                // [B, H, T, Dk]
  if (query_norm_) q = query_norm_->forward(q);
  if (positions_) q = positions_->turn(q, first);
  Call call{.q = q, .k = k, .v = v, .extent = {.queries = T, .keys = S, .offset = first}, .mask = {}};
  if (!weights)
    if (std::optional<HeadContexts> near = near_contexts(call, visibility)) return *near;
  // The kernel has its own fast form of a causal pattern without padding; otherwise it is given a mask.
  const bool plain = !is_explicit(q, weights) && !(positions_ && positions_->biases());
  call.causal = plain && visibility.fused_causal(call.extent);
  if (!call.causal) call.mask = visibility.mask(call.extent, q.device(), heads_);
  return contexts(call, weights);
}

torch::Tensor Attention::combine(const torch::Tensor& context, const torch::Tensor& gates) const {
  const int64_t B = context.size(0), T = context.size(2), H = head_count();
  TORCH_CHECK(context.size(1) == H, "a block with ", H, " heads needs as many contexts, not ", context.sizes());
  if (H == 0)  // [B, T, C]
    return output_->bias.defined() ? output_->bias.expand({B, T, d_model()}) : context.new_zeros({B, T, d_model()});
  torch::Tensor gated = context;
  if (gates.defined()) {
    TORCH_CHECK(gates.size(-1) == H, "a block with ", H, " heads needs as many gates, not ", gates.sizes());
    gated = context * gates.to(context.scalar_type()).unsqueeze(-1).unsqueeze(-1);  // [B, H, T, Dv]
  }
  return output_->forward(gated.transpose(1, 2).reshape({B, T, H * value_width()}));  // [B, T, C]
}

void Attention::remove_heads(const std::vector<int64_t>& ids) {
  const std::vector<int64_t> kept_heads = kept_positions(heads_, ids);
  if (kept_heads.size() == heads_.size()) return;
  const std::vector<int64_t> left = entries(heads_, kept_heads), left_groups = groups_of(left);
  std::vector<int64_t> empty_groups;
  for (const int64_t group : groups_)
    if (!std::binary_search(left_groups.begin(), left_groups.end(), group)) empty_groups.push_back(group);
  const torch::Tensor heads = torch::tensor(kept_heads, torch::kInt64);                              // [H]
  const torch::Tensor groups = torch::tensor(kept_positions(groups_, empty_groups), torch::kInt64);  // [G]
  const auto keep_rows = [](Projection& projection, int64_t width, const torch::Tensor& kept) {
    keep_slices(projection.weight, 0, width, kept);                               // [n width, C]
    if (projection.bias.defined()) keep_slices(projection.bias, 0, width, kept);  // [n width]
  };
  keep_rows(*query_, key_width(), heads);
  keep_rows(*key_, key_width(), groups);
  keep_rows(*value_, value_width(), groups);
  keep_slices(output_->weight, 1, value_width(), heads);  // [C, H Dv]
  for (HeadRows& rows : position_rows()) keep_slices(rows.parameter, 0, rows.width, heads);
  heads_ = left;
  groups_ = left_groups;
}

AttentionCost Attention::cost(int64_t keys, const std::vector<int64_t>& without, const Pattern& pattern) const {
  const std::vector<int64_t> left = entries(heads_, kept_positions(heads_, without));
  const auto H = std::ssize(left), G = std::ssize(groups_of(left));
  const int64_t rows = H * key_width() + G * (key_width() + value_width()), columns = H * value_width();
  AttentionCost cost{
      .params = d_model() * (rows + columns) + (config_.bias ? rows : 0),
      .flops_per_token = 2 * d_model() * (rows + columns),
      .cache_bytes_per_token = G * (key_width() + value_width()) * static_cast<int64_t>(key_->weight.element_size())};
  for (const int64_t head : left) {
    const int64_t seen = pattern.most_keys(keys, head);
    const PositionCost own = positions_ ? positions_->cost(seen) : PositionCost();
    cost.params += own.params;
    cost.flops_per_token += 2 * seen * (key_width() + value_width()) + own.flops_per_token;
  }
  return cost;
}

BlockHeads heads_present(const BlockId& id, const Attention& attention) {
  return {.id = id, .heads = attention.heads(), .heads_per_group = attention.heads_per_group()};
}

}  // namespace headprune
