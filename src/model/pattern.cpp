#include "model/pattern.h"

namespace headprune {
namespace {

class Full final : public Pattern {
 public:
  torch::Tensor visible(const Extent&, torch::Device) const override { return {}; }
  int64_t most_keys(int64_t length, int64_t) const override { return length; }
};

class Causal final : public Pattern {
 public:
  torch::Tensor visible(const Extent& extent, torch::Device device) const override {
    if (extent.queries == 1 && extent.offset + 1 == extent.keys) return {};  // the newest of a text that is written
    const auto options = torch::TensorOptions(torch::kBool).device(device);
    return torch::ones({extent.queries, extent.keys}, options).tril(extent.offset);  // [T, S]
  }
  bool fused_causal(const Extent& extent) const override { return extent.queries == extent.keys; }
  int64_t most_keys(int64_t length, int64_t) const override { return length; }
};

}  // namespace

torch::Tensor distances_behind(const Extent& extent, torch::Device device) {
  const auto options = torch::TensorOptions(torch::kInt64).device(device);
  const torch::Tensor queries = torch::arange(extent.offset, extent.offset + extent.queries, options);  // [T]
  return queries.unsqueeze(1) - torch::arange(extent.keys, options);                                    // [T, S]
}

std::shared_ptr<const Pattern> full_pattern() {
  static const auto pattern = std::make_shared<const Full>();
  return pattern;
}

std::shared_ptr<const Pattern> causal_pattern() {
  static const auto pattern = std::make_shared<const Causal>();
  return pattern;
}

Visibility::Visibility(std::shared_ptr<const Pattern> pattern, torch::Tensor keys_present)
    : pattern_(std::move(pattern)), keys_present_(std::move(keys_present)) {}

torch::Tensor Visibility::mask(const Extent& extent, torch::Device device, const std::vector<int64_t>& heads) const {
  torch::Tensor mask;
  Extent placed = extent;
  if (padded()) {
    mask = keys_present_.unsqueeze(1).unsqueeze(1);  // [B, 1, 1, S]
    if (pattern_->by_place()) {
      const torch::Tensor starts = keys_present_.to(torch::kInt64).argmax(1);  // [B]
      if (starts.any().item<bool>()) placed.starts = starts;
    }
  }
  torch::Tensor seen = pattern_->visible(placed, device);  // [T, S], [H, T, S] or [B, 1 or H, T, S]
  if (!seen.defined()) return mask;
  while (seen.dim() < 4) seen = seen.unsqueeze(0);
  if (pattern_->by_head()) seen = seen.index_select(1, torch::tensor(heads, torch::kInt64).to(device));
  return mask.defined() ? mask.logical_and(seen) : seen;  // [B or 1, H or 1, T, S]
}

}  // namespace headprune
