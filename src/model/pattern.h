// Which keys a query may see: the pattern of a block, and the padding of a batch.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/torch.h"

namespace headprune {

/// Queries and keys of one call of an attention module.
struct Extent {
  int64_t queries = 0;  // T
  int64_t keys = 0;     // S
  int64_t offset = 0;   // the position of the first query among the keys
  /// Positions of padding before each row's text, [B] int64; undefined where there are none, or where nobody asks.
  torch::Tensor starts = {};
};

/// Of patterns that look around: the keys that a query sees stand at most this far before and behind it.
struct Reach {
  int64_t back = 0, ahead = 0;
};

/// Knows no batch; the same object serves every pass. Padding is left to Visibility.
class Pattern {
 public:
  virtual ~Pattern() = default;
  /// bool, true = visible: [T, S]; with by_head() [H, T, S] for the heads of the intact block; and where `starts` says
  /// something to a pattern that is by_place(), [B, 1 or H, T, S]. Undefined where every query sees every key.
  virtual torch::Tensor visible(const Extent& extent, torch::Device device) const = 0;
  /// Whether it is what the fused kernel calls causal: then no mask is made for it.
  virtual bool fused_causal(const Extent& /*extent*/) const { return false; }
  /// Whether heads of one block see different keys.
  virtual bool by_head() const { return false; }
  /// Whether it counts from the first token of a text, and not from the query.
  virtual bool by_place() const { return false; }
  /// Where every query of every head sees all keys within a reach, and no others.
  virtual std::optional<Reach> reach() const { return std::nullopt; }
  /// The most keys that a query of this head of the intact block sees in a text of `length` tokens.
  virtual int64_t most_keys(int64_t length, int64_t head) const = 0;
};

/// Distance of each key behind each query, [T, S] int64: negative for those that come later.
torch::Tensor distances_behind(const Extent& extent, torch::Device device);

/// Every key.
std::shared_ptr<const Pattern> full_pattern();
/// The keys up to the query's own position.
std::shared_ptr<const Pattern> causal_pattern();

/// Pattern and padding of one batch.
class Visibility {
 public:
  /// `keys_present` [B, S] bool; undefined where nothing is padding, which keeps the fused kernel free of a mask.
  explicit Visibility(std::shared_ptr<const Pattern> pattern, torch::Tensor keys_present = {});
  const Pattern& pattern() const { return *pattern_; }
  const torch::Tensor& keys_present() const { return keys_present_; }
  bool padded() const { return keys_present_.defined(); }
  /// [B or 1, H or 1, T or 1, S] bool on `device`, true = visible; undefined where every query sees every key. `heads`
  /// are those on the H axis, by their ids in the intact block.
  torch::Tensor mask(const Extent& extent, torch::Device device, const std::vector<int64_t>& heads) const;
  /// The same of `count` keys from `first` on, for a pattern that looks at distances alone.
  Visibility narrowed(int64_t first, int64_t count) const {
    return Visibility(pattern_, padded() ? keys_present_.narrow(1, first, count) : keys_present_);
  }
  /// Whether the fused kernel's own causal form says all of it.
  bool fused_causal(const Extent& extent) const { return !padded() && pattern_->fused_causal(extent); }

 private:
  std::shared_ptr<const Pattern> pattern_;
  torch::Tensor keys_present_;
};

}  // namespace headprune
