// Positions that act inside attention: the interface through which the attention module asks them. One file each:
// rotary.h, alibi.h, t5_bias.h, shaw.h, transformer_xl.h. Those that are added to token vectors are in positions.h.
// They belong to self-attention; queries and keys of two texts have no distance.
#pragma once

#include <memory>
#include <vector>

#include "core/torch.h"
#include "model/pattern.h"

namespace headprune {

/// One call of an attention module.
struct PositionCall {
  const torch::Tensor& queries;       // [B, H, T, Dk]
  const std::vector<int64_t>& heads;  // those on the H axis, by their ids in the intact block
  const Extent& extent;
  double scale = 1;  // of the products of queries and keys
};

/// A parameter that has `width` rows for each head present, in their order.
struct HeadRows {
  torch::Tensor parameter;
  int64_t width = 1;
};

/// What one head's own part of them costs.
struct PositionCost {
  int64_t params = 0;
  int64_t flops_per_token = 0;  // multiply-adds x 2
};

/// Parameters, where there are any, belong to the module that registers it: the attention module where each layer has
/// its own, else the model.
class AttentionPositions : public torch::nn::Module {
 public:
  /// Queries or keys [B, n, T, Dk], the first of T at position `first`, as they are to be multiplied.
  virtual torch::Tensor turn(const torch::Tensor& x, int64_t /*first*/) const { return x; }
  /// What is added to scores, so to products of queries and keys times their scale: [H, T, S] or [B, H, T, S]. Asked
  /// only where biases().
  virtual torch::Tensor bias(const PositionCall& /*call*/) const { return {}; }
  virtual bool biases() const { return false; }
  /// Queries as keys are to meet them, behind bias(). [B, H, T, Dk]
  virtual torch::Tensor meeting_keys(const torch::Tensor& queries) const { return queries; }
  /// What is added to contexts, [B, H, T, Dv], from attention weights [B, H, T, S]. Asked only where adds_values(),
  /// which keeps the fused kernel out.
  virtual torch::Tensor values(const torch::Tensor& /*weights*/, const Extent& /*extent*/) const { return {}; }
  virtual bool adds_values() const { return false; }

  /// Parameters that go with their head.
  virtual std::vector<HeadRows> head_rows() const { return {}; }
  /// Of one head, at one token whose query sees `keys` keys.
  virtual PositionCost cost(int64_t /*keys*/) const { return {}; }
};

}  // namespace headprune
