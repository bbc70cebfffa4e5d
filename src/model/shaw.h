// Relative positions as in Shaw et al. 2018 (arXiv 1803.02155): a trained vector for each distance up to a largest is
// added to keys, and to values where asked for. Tables are shared by the heads of a layer, and stay when heads go.
#pragma once

#include "model/attention_positions.h"

namespace headprune {

struct ShawConfig {
  int64_t key_width = 1, value_width = 1;  // Dk, Dv
  int64_t max_distance = 16;               // k: larger distances count as this one
  bool values = true;
};

/// e = q (k_j + a_K[c]) / sqrt(Dk), o = sum over j of p (v_j + a_V[c]), c = clip(j - i, -k, k) + k. Parameters "keys"
/// [2k + 1, Dk] and "values" [2k + 1, Dv].
std::shared_ptr<AttentionPositions> make_shaw(const ShawConfig& config);

}  // namespace headprune
