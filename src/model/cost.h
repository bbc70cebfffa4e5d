// What a model costs once heads are gone, without removing them.
#pragma once

#include "core/heads.h"
#include "model/model.h"

namespace headprune {

struct ModelCost {
  int64_t params = 0;
  /// Multiply-adds x 2 of the attention blocks for one token of a sequence of the given length.
  int64_t attention_flops_per_token = 0;
};

/// Parameters and attention FLOPs of `model` without the heads of `removed`, at sequences of `length` tokens.
ModelCost model_cost(Model& model, const HeadSet& removed, int64_t length);

}  // namespace headprune
