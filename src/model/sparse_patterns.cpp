#include "model/sparse_patterns.h"

#include <algorithm>

namespace headprune {
namespace {

/// Kinds of head in turn, for the heads of the intact block.
template <class K>
class HeadKinds {
 public:
  HeadKinds(const std::vector<K>& in_turn, int64_t heads) {
    for (int64_t head = 0; head < heads; ++head) kinds_.push_back(in_turn[static_cast<size_t>(head) % in_turn.size()]);
  }
  K of(int64_t head) const { return kinds_.at(static_cast<size_t>(head)); }
  bool differ() const { return std::count(kinds_.begin(), kinds_.end(), kinds_.front()) != std::ssize(kinds_); }
  /// `of_kind` of each head on a new third axis from behind; of the first alone where all are alike.
  template <class F>
  torch::Tensor stacked(const F& of_kind) const {
    if (!differ()) return of_kind(kinds_.front());
    std::vector<torch::Tensor> all;
    for (const K kind : kinds_) all.push_back(of_kind(kind));
    return torch::stack(all, -3);
  }

 private:
  std::vector<K> kinds_;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Strided final : public Pattern {
 public:
  Strided(const StridedOptions& options, const PatternPlace& place)
      : stride_(options.stride), causal_(place.causal), kinds_(options.heads, place.heads) {}
  torch::Tensor visible(const Extent& extent, torch::Device device) const override {
    const torch::Tensor behind = distances_behind(extent, device);  // [T, S]
    const torch::Tensor past = causal_ ? behind.ge(0) : behind.ge(-stride_);
    return kinds_.stacked([&](StridedHead kind) {
      if (kind == StridedHead::local) return past.logical_and(behind.le(stride_));  // [T, S]
      const torch::Tensor on_stride = behind.remainder(stride_).eq(0);
      return causal_ ? on_stride.logical_and(behind.ge(0)) : on_stride;
    });  // [T, S] or [H, T, S]
  }
  bool by_head() const override { return kinds_.differ(); }
  int64_t most_keys(int64_t length, int64_t head) const override {
    if (kinds_.of(head) == StridedHead::strided) return ceil_div(length, stride_);
    return std::min(length, (causal_ ? 1 : 2) * stride_ + 1);
  }

 private:
  int64_t stride_;
  bool causal_;
  HeadKinds<StridedHead> kinds_;
};

class Fixed final : public Pattern {
 public:
  Fixed(const FixedOptions& options, const PatternPlace& place)
      : stride_(options.stride), summary_(options.summary), causal_(place.causal), kinds_(options.heads, place.heads) {}
  torch::Tensor visible(const Extent& extent, torch::Device device) const override {
    const auto options = torch::TensorOptions(torch::kInt64).device(device);
    torch::Tensor query = torch::arange(extent.offset, extent.offset + extent.queries, options);  // [T] or [B, T]
    torch::Tensor key = torch::arange(extent.keys, options);                                      // [S] or [B, S]
    if (extent.starts.defined()) {
      query = query - extent.starts.unsqueeze(1);
      key = key - extent.starts.unsqueeze(1);
    }
    query = query.unsqueeze(-1);  // [T, 1] or [B, T, 1]
    key = key.unsqueeze(-2);      // [1, S] or [B, 1, S]
    const torch::Tensor seen = kinds_.stacked([&](FixedHead kind) {
      torch::Tensor of_kind = kind == FixedHead::block
                                  ? block_of(key).eq(block_of(query))
                                  : key.remainder(stride_).ge(stride_ - summary_).expand_as(key - query);
      return causal_ ? of_kind.logical_and(key.le(query)) : of_kind;  // [T, S] or [B, T, S]
    });
    // One kind of head has no axis for heads, which rows of a batch need.
    return extent.starts.defined() && !kinds_.differ() ? seen.unsqueeze(1) : seen;
  }
  bool by_head() const override { return kinds_.differ(); }
  bool by_place() const override { return true; }
  int64_t most_keys(int64_t length, int64_t head) const override {
    if (kinds_.of(head) == FixedHead::block) return std::min(length, stride_);
    return length / stride_ * summary_ + std::max<int64_t>(0, length % stride_ - (stride_ - summary_));
  }

 private:
  torch::Tensor block_of(const torch::Tensor& places) const { return places.div(stride_, "floor"); }

  int64_t stride_, summary_;
  bool causal_;
  HeadKinds<FixedHead> kinds_;
};

}  // namespace

std::shared_ptr<const Pattern> strided_pattern(const StridedOptions& options, const PatternPlace& place) {
  return std::make_shared<const Strided>(options, place);
}

std::shared_ptr<const Pattern> fixed_pattern(const FixedOptions& options, const PatternPlace& place) {
  return std::make_shared<const Fixed>(options, place);
}

}  // namespace headprune
