// How much memory a pass takes, estimated before it runs.
#pragma once

#include <cstdint>

#include "model/transformer_model.h"

namespace headprune {

/// A padded batch.
struct BatchShape {
  int64_t examples = 0;
  int64_t tokens = 0;          // of the longest example; of a translation, of its source
  int64_t decoder_tokens = 0;  // of a translation, of its target; 0 elsewhere
};

/// What is kept of a pass.
struct PassUse {
  bool gradients = false;          // what a backward pass needs, of every layer
  bool training = false;           // with the model's dropout
  bool attention_weights = false;  // of every layer, for scores that look at them
  bool block_by_block = false;     // attention weights of one layer at a time, for analyses
};

/// Bytes that a pass over one batch takes at its peak beyond the parameters, in float32. `model` may be an outline
/// (ModelFamily::outline). An estimate: 3 to 20 % above what whole runs were
/// measured to take (encoders of 64 to 512 wide, 128 and 512 tokens, with and without dropout, on two cores).
uint64_t pass_bytes(const TransformerModel& model, const BatchShape& batch, const PassUse& use);

}  // namespace headprune
