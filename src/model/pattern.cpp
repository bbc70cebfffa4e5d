#include "model/pattern.h"

namespace headprune {
namespace {

class Full final : public Pattern {
 public:
  torch::Tensor visible(const Extent&, torch::Device) const override { return {}; }
};

/// Distance of each key behind each query, [T, S]: negative for those that come later.
torch::Tensor distances(const Extent& extent, torch::Device device) {
  const auto options = torch::TensorOptions(torch::kInt64).device(device);
  const torch::Tensor queries = torch::arange(extent.offset, extent.offset + extent.queries, options);  // [T]
  return queries.unsqueeze(1) - torch::arange(extent.keys, options);                                    // [T, S]
}

class Causal final : public Pattern {
 public:
  torch::Tensor visible(const Extent& extent, torch::Device device) const override {
    if (extent.queries == 1 && extent.offset + 1 == extent.keys) return {};  // the newest of a text that is written
    const auto options = torch::TensorOptions(torch::kBool).device(device);
    return torch::ones({extent.queries, extent.keys}, options).tril(extent.offset);  // [T, S]
  }
  bool fused_causal(const Extent& extent) const override { return extent.queries == extent.keys; }
};

class Sliding final : public Pattern {
 public:
  explicit Sliding(int64_t window) : window_(window) {}
  torch::Tensor visible(const Extent& extent, torch::Device device) const override {
    if (shorter(extent)) return causal_pattern()->visible(extent, device);
    const torch::Tensor behind = distances(extent, device);  // [T, S]
    return behind.ge(0).logical_and(behind.lt(window_));     // [T, S]
  }
  bool fused_causal(const Extent& extent) const override {
    return shorter(extent) && causal_pattern()->fused_causal(extent);
  }

 private:
  /// Whether the window reaches back to the first key from everywhere.
  bool shorter(const Extent& extent) const { return extent.offset + extent.queries <= window_; }

  int64_t window_;
};

}  // namespace

std::shared_ptr<const Pattern> full_pattern() {
  static const auto pattern = std::make_shared<const Full>();
  return pattern;
}

std::shared_ptr<const Pattern> causal_pattern() {
  static const auto pattern = std::make_shared<const Causal>();
  return pattern;
}

std::shared_ptr<const Pattern> sliding_pattern(int64_t window) {
  TORCH_CHECK(window > 0, "a window of ", window, " keys");
  return std::make_shared<const Sliding>(window);
}

Visibility::Visibility(std::shared_ptr<const Pattern> pattern, torch::Tensor keys_present)
    : pattern_(std::move(pattern)), keys_present_(std::move(keys_present)) {}

torch::Tensor Visibility::mask(const Extent& extent, torch::Device device) const {
  torch::Tensor mask;
  if (padded()) mask = keys_present_.unsqueeze(1).unsqueeze(1);  // [B, 1, 1, S]
  const torch::Tensor seen = pattern_->visible(extent, device);  // [T, S]
  if (!seen.defined()) return mask;
  return mask.defined() ? mask.logical_and(seen) : seen.unsqueeze(0).unsqueeze(0);  // [B or 1, 1, T, S]
}

}  // namespace headprune
