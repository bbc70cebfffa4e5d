// Relative positions as in Transformer-XL (Dai et al. 2019, arXiv 1901.02860, section 3.3): sinusoidal vectors of
// distances, projected for each head, and two trained vectors a head that stand for the query's own position.
#pragma once

#include "model/attention_positions.h"

namespace headprune {

struct TransformerXlConfig {
  int64_t d_model = 0;
  int64_t heads = 1, key_width = 1;  // H, Dk
};

/// score = ((q + u) k_j + (q + v) (W_R r[i - j])) / sqrt(Dk). Parameters "content_bias" u and "position_bias" v [H,
/// Dk], and "projection" W_R [H Dk, C]; all rows go with their head.
std::shared_ptr<AttentionPositions> make_transformer_xl(const TransformerXlConfig& config);

}  // namespace headprune
