// Which keys a query may see: the pattern of a block, and the padding of a batch.
#pragma once

#include <memory>

#include "core/torch.h"

namespace headprune {

/// Queries and keys of one call of an attention module.
struct Extent {
  int64_t queries = 0;  // T
  int64_t keys = 0;     // S
  int64_t offset = 0;   // the position of the first query among the keys
};

/// Knows no batch; the same object serves every pass. Padding is left to Visibility.
class Pattern {
 public:
  virtual ~Pattern() = default;
  /// [T, S] bool, true = visible; undefined where every query sees every key.
  virtual torch::Tensor visible(const Extent& extent, torch::Device device) const = 0;
  /// Whether it is what the fused kernel calls causal: then no mask is made for it.
  virtual bool fused_causal(const Extent& /*extent*/) const { return false; }
};

/// Every key.
std::shared_ptr<const Pattern> full_pattern();
/// The keys up to the query's own position.
std::shared_ptr<const Pattern> causal_pattern();
/// The last `window` of these, its own position among them: q - window < k <= q (Jiang et al. 2023, section 2).
std::shared_ptr<const Pattern> sliding_pattern(int64_t window);

/// Pattern and padding of one batch.
class Visibility {
 public:
  /// `keys_present` [B, S] bool; undefined where nothing is padding, which keeps the fused kernel free of a mask.
  explicit Visibility(std::shared_ptr<const Pattern> pattern, torch::Tensor keys_present = {});
  bool padded() const { return keys_present_.defined(); }
  /// [B or 1, 1, T or 1, S] bool on `device`, true = visible; undefined where every query sees every key.
  torch::Tensor mask(const Extent& extent, torch::Device device) const;
  /// Whether the fused kernel's own causal form says all of it.
  bool fused_causal(const Extent& extent) const { return !padded() && pattern_->fused_causal(extent); }

 private:
  std::shared_ptr<const Pattern> pattern_;
  torch::Tensor keys_present_;
};

}  // namespace headprune
