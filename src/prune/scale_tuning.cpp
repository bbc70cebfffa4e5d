#include "prune/scale_tuning.h"

#include "core/stop.h"
#include "model/attention.h"
#include "score/accumulate.h"

namespace headprune {
namespace {

/// What each head gives at every position of the batch that counts: [H, R C] float64.
torch::Tensor head_outputs(const torch::Tensor& context, Attention& attention, const torch::Tensor& rows) {
  const int64_t heads = attention.head_count(), width = attention.value_width();
  const torch::Tensor weight = attention.output().weight.view({-1, heads, width}).permute({1, 2, 0});  // [H, Dv, C]
  const torch::Tensor chosen = context.transpose(0, 1).flatten(1, 2).index_select(1, rows);            // [H, R, Dv]
  return chosen.matmul(weight).flatten(1).to(torch::kCPU, torch::kFloat64);                            // [H, R C]
}

torch::Tensor ones_where_kept(const BlockHeads& block, const HeadSet& removed) {
  torch::Tensor kept = torch::ones({block.count()}, torch::kFloat64);  // [H]
  for (int64_t h = 0; h < block.count(); ++h)
    if (removed.contains({block.id, block.heads[static_cast<size_t>(h)]})) kept[h] = 0;
  return kept;
}

/// The sums of one block over the split.
struct Sums {
  torch::Tensor gram, towards;  // [H, H], [H]
};

Sums sums_of(const ScoreInput& input, size_t block, const PerBlock& scales, int64_t& forward) {
  Model& model = input.model;
  const Kind kind = model.blocks()[block].id.kind;
  const int64_t heads = model.attention(block).head_count();
  Sums sums{torch::zeros({heads, heads}, torch::kFloat64), torch::zeros({heads}, torch::kFloat64)};
  for (const Batch& batch : input.batches) {
    check_stop();
    const torch::Tensor rows = query_mask(batch, kind).flatten().nonzero().flatten();  // [R]
    const auto outputs = [&](const PerBlock& gates) {
      HeadProbe probe;
      probe.contexts = true;
      for (const torch::Tensor& one : gates)
        probe.gates.push_back(one.defined() ? one.to(model.parameters().front().options().requires_grad(false)) : one);
      ++forward;
      return head_outputs(model.forward(batch, probe).heads.contexts[block], model.attention(block), rows);
    };
    const torch::Tensor towards = outputs({}).sum(0);  // [R C]
    const torch::Tensor pruned = outputs(scales);      // [H, R C]
    sums.gram += pruned.matmul(pruned.t());
    sums.towards += pruned.matmul(towards);
  }
  for (int pass = 0; pass < 2; ++pass)
    if (input.on_mask) input.on_mask(1);
  return sums;
}

}  // namespace

torch::Tensor damped_scales(const torch::Tensor& gram, const torch::Tensor& towards, double damp) {
  const torch::Tensor ones = torch::ones_like(towards);
  const torch::Tensor left = gram + damp * damp * torch::eye(gram.size(0), gram.options());
  return ones + std::get<0>(torch::linalg_solve_ex(left, towards - gram.matmul(ones)));  // [n]
}

TunedScales tuned_scales(const ScoreInput& input, const HeadSet& removed, double damp) {
  const FrozenModel frozen(input.model);
  const torch::NoGradGuard no_gradients;
  const Blocks blocks = input.model.blocks();
  TunedScales tuned;
  for (const BlockHeads& block : blocks)
    tuned.scales.push_back(block.heads.empty() ? torch::Tensor() : ones_where_kept(block, removed));
  for (const size_t b : input.model.order()) {
    if (blocks[b].heads.empty()) continue;
    const torch::Tensor kept = tuned.scales[b].nonzero().flatten();  // [n]
    if (kept.numel() == 0) continue;
    const Sums sums = sums_of(input, b, tuned.scales, tuned.forward);
    const torch::Tensor scales = damped_scales(sums.gram.index_select(0, kept).index_select(1, kept),
                                               sums.towards.index_select(0, kept), damp);  // [n]
    if (!(scales.abs() <= kMostScale).all().item<bool>()) {                                // NaN too
      tuned.stopped = to_string(blocks[b].id);
      break;
    }
    tuned.scales[b].index_copy_(0, kept, scales);
  }
  return tuned;
}

void fold_scales(Model& model, const PerBlock& scales) {
  const torch::NoGradGuard no_gradients;
  for (size_t b = 0; b < scales.size(); ++b) {
    if (!scales[b].defined()) continue;
    Attention& attention = model.attention(b);
    torch::Tensor weight = attention.output().weight;
    const torch::Tensor factors = torch::where(scales[b] == 0, torch::ones_like(scales[b]), scales[b]);  // [H]
    weight.view({weight.size(0), attention.head_count(), -1}).mul_(factors.to(weight.options()).view({1, -1, 1}));
  }
}

}  // namespace headprune
