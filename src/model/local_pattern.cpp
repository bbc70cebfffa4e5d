#include "model/local_pattern.h"

#include <algorithm>

namespace headprune {
namespace {

/// Shorter blocks look at fewer keys in vain, and cost more calls.
constexpr int64_t kShortestBlock = 32;

class Local final : public Pattern {
 public:
  explicit Local(const Reach& reach) : reach_(reach) {}
  torch::Tensor visible(const Extent& extent, torch::Device device) const override {
    const bool all_before = extent.offset + extent.queries <= reach_.back + 1;
    if (all_before && reach_.ahead == 0) return causal_pattern()->visible(extent, device);
    if (all_before && extent.keys - 1 - extent.offset <= reach_.ahead) return {};
    const torch::Tensor behind = distances_behind(extent, device);        // [T, S]
    return behind.ge(-reach_.ahead).logical_and(behind.le(reach_.back));  // [T, S]
  }
  bool fused_causal(const Extent& extent) const override {
    return reach_.ahead == 0 && extent.offset + extent.queries <= reach_.back + 1 &&
           causal_pattern()->fused_causal(extent);
  }
  std::optional<Reach> reach() const override { return reach_; }
  int64_t most_keys(int64_t length, int64_t) const override { return std::min(length, reach_.back + 1 + reach_.ahead); }

 private:
  Reach reach_;
};

}  // namespace

std::shared_ptr<const Pattern> local_pattern(const Reach& reach) {
  TORCH_CHECK(reach.back >= 0 && reach.ahead >= 0, "a reach of ", reach.back, " and ", reach.ahead);
  return std::make_shared<const Local>(reach);
}

LocalBlocks::LocalBlocks(const Reach& reach, int64_t length) : reach_(reach), length_(length) {
  const int64_t around = reach.back + reach.ahead;
  const int64_t n = std::clamp<int64_t>((around + 1) / 2, kShortestBlock, std::max(length, kShortestBlock));
  blocks_ = (length + n - 1) / n;
  extent_ = {.queries = n, .keys = n + around, .offset = reach.back};
}

torch::Tensor LocalBlocks::queries(const torch::Tensor& x) const {
  const int64_t n = extent_.queries;
  const torch::Tensor whole = at::constant_pad_nd(x, {0, 0, 0, blocks_ * n - length_});  // [B, H, N n, D]
  return whole.unflatten(2, {blocks_, n}).transpose(1, 2).flatten(0, 1);                 // [B N, H, n, D]
}

torch::Tensor LocalBlocks::keys(const torch::Tensor& x) const {
  const int64_t behind = blocks_ * extent_.queries - length_ + reach_.ahead;
  const torch::Tensor whole = at::constant_pad_nd(x, {0, 0, reach_.back, behind});
  const torch::Tensor windows = whole.unfold(2, extent_.keys, extent_.queries);  // [B, H, N, D, n + reach]
  return windows.permute({0, 2, 1, 4, 3}).flatten(0, 1);                         // [B N, H, n + reach, D]
}

torch::Tensor LocalBlocks::mask(const Pattern& pattern, const torch::Tensor& present, int64_t texts,
                                torch::Device device) const {
  const torch::Tensor there =
      present.defined() ? present : torch::ones({1, length_}, torch::TensorOptions(torch::kBool).device(device));
  const int64_t behind = blocks_ * extent_.queries - length_ + reach_.ahead;
  const torch::Tensor windows =
      at::constant_pad_nd(there, {reach_.back, behind}).unfold(1, extent_.keys, extent_.queries);  // [B or 1, N, S]
  torch::Tensor mask = windows.unsqueeze(2).unsqueeze(2);       // [B or 1, N, 1, 1, S]
  const torch::Tensor seen = pattern.visible(extent_, device);  // [n, S]
  if (seen.defined()) mask = mask.logical_and(seen);            // [B or 1, N, 1, n, S]
  return mask.expand({texts, -1, -1, -1, -1}).flatten(0, 1);    // [B N, 1, 1 or n, S]
}

torch::Tensor LocalBlocks::joined(const torch::Tensor& x) const {
  const torch::Tensor whole = x.unflatten(0, {-1, blocks_}).transpose(1, 2).flatten(2, 3);  // [B, H, N n, D]
  return whole.narrow(2, 0, length_);                                                       // [B, H, T, D]
}

}  // namespace headprune
