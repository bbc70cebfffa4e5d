// Names of blocks and heads as people write them.
#pragma once

#include <optional>
#include <string>

#include "core/heads.h"

namespace headprune {

/// encoder.L3; nothing for another text.
std::optional<BlockId> parse_block(const std::string& text);
/// encoder.L3.H7; nothing for another text.
std::optional<HeadId> parse_head(const std::string& text);
/// What a model has: "encoder.L0 to encoder.L5 with heads H0 to H11".
std::string blocks_text(const Blocks& blocks);

}  // namespace headprune
