// ALiBi (Press et al. 2022, arXiv 2108.12409): scores fall with the distance, in each head with a slope of its own. In
// an encoder on both sides alike.
#pragma once

#include "model/attention_positions.h"

namespace headprune {

/// 2^(-8 (h + 1) / H) for H a power of two; else those of the largest power below, then every second of twice that.
std::vector<double> alibi_slopes(int64_t heads);

/// score - slope of the head |i - j|. `heads` of the intact block.
std::shared_ptr<AttentionPositions> make_alibi(int64_t heads);

}  // namespace headprune
