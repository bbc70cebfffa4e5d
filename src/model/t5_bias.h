// T5's relative positions (Raffel et al. 2020, arXiv 1910.10683, section 2.1): distances in buckets, each of which adds
// a trained number to the scores of a head. One table for all layers of a stack.
#pragma once

#include "model/attention_positions.h"

namespace headprune {

struct T5Config {
  int64_t heads = 1;  // of the intact block
  int64_t buckets = 32;
  int64_t max_distance = 128;
  bool causal = false;  // keys behind the query need no buckets
};

/// Bucket of each distance j - i, int64 of the same shape. Half of the buckets (in an encoder, of those of each side)
/// are for one distance each, the others grow with its logarithm; the last has all from max_distance on.
torch::Tensor t5_buckets(const torch::Tensor& distances, const T5Config& config);

/// Its one parameter is "table" [buckets, H of the intact block], and stays whole: layers take their heads from it by
/// original id.
std::shared_ptr<AttentionPositions> make_t5_bias(const T5Config& config);

}  // namespace headprune
