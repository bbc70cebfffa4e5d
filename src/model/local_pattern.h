// `local`: a query sees what stands near it (Beltagy et al. 2020; of a decoder, Jiang et al. 2023, section 2).
#pragma once

#include "model/pattern.h"

namespace headprune {

/// i - back <= j <= i + ahead. A decoder's window of w keys has the reach {w - 1, 0}.
std::shared_ptr<const Pattern> local_pattern(const Reach& reach);

/// A pass over a whole text in which queries see no further than a reach, as many short ones beside each other: its
/// queries in blocks, each with the keys that its queries can see. Work and memory grow with T (n + reach) in place of
/// T T. B N blocks stand where B texts stood, N of each; the last is filled up.
class LocalBlocks {
 public:
  LocalBlocks(const Reach& reach, int64_t length);
  /// Whether the blocks together are clearly less than the whole.
  bool pays() const { return blocks_ > 1 && 2 * extent_.keys <= length_; }
  /// Of each block. What depends on distances alone may be asked about it as about any call.
  const Extent& extent() const { return extent_; }
  torch::Tensor queries(const torch::Tensor& x) const;  // [B, H, T, D] to [B N, H, n, D]
  torch::Tensor keys(const torch::Tensor& x) const;     // [B, H, T, D] to [B N, H, n + reach, D]
  /// bool, [B N, 1, n, n + reach], of B texts whose tokens are `present` [B, T]; all where it is undefined.
  torch::Tensor mask(const Pattern& pattern, const torch::Tensor& present, int64_t texts, torch::Device device) const;
  torch::Tensor joined(const torch::Tensor& x) const;  // [B N, H, n, D] to [B, H, T, D]

 private:
  Reach reach_;
  int64_t length_, blocks_;
  Extent extent_;
};

}  // namespace headprune
