// From a kind of positions and its sizes to what acts inside attention.
#pragma once

#include <memory>

#include "model/attention_positions.h"
#include "model/transformer_config.h"

namespace headprune {

/// Whether each layer has parameters of its own for them; else one object serves the layers of a stack.
bool own_positions(Positions kind);
/// For self-attention of that kind. Null where nothing of the kind acts inside attention.
std::shared_ptr<AttentionPositions> make_attention_positions(const TransformerConfig& config, Kind kind);

}  // namespace headprune
