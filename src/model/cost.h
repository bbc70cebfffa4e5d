// What a model costs once heads are gone, without removing them.
#pragma once

#include <optional>

#include "core/heads.h"
#include "model/model.h"

namespace headprune {

struct ModelCost {
  int64_t params = 0;
  /// Multiply-adds x 2 that the attention blocks spend on one token, of a translation on one of each side, heads
  /// present only (Attention::cost).
  int64_t attention_flops_per_token = 0;
  /// Keys and values of one token in the blocks of kind decoder, in the type of the weights; nothing without such
  /// blocks.
  std::optional<int64_t> kv_cache_bytes_per_token = {};
};

/// Parameters and attention FLOPs of `model` without the heads of `removed`, at texts of these lengths.
ModelCost model_cost(Model& model, const HeadSet& removed, const TextLengths& lengths);

}  // namespace headprune
