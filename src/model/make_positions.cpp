#include "model/make_positions.h"

#include "model/alibi.h"
#include "model/shaw.h"
#include "model/t5_bias.h"
#include "model/transformer_xl.h"

namespace headprune {

bool own_positions(Positions kind) { return kind == Positions::shaw || kind == Positions::transformer_xl; }

std::shared_ptr<AttentionPositions> make_attention_positions(const TransformerConfig& config, Kind kind) {
  switch (config.positions) {
    case Positions::rotary:
      return std::make_shared<Rotary>(config.rotary());
    case Positions::alibi:
      return make_alibi(config.heads);
    case Positions::t5:
      return make_t5_bias({.heads = config.heads,
                           .buckets = config.t5_buckets,
                           .max_distance = config.t5_max_distance,
                           .causal = kind == Kind::decoder});
    case Positions::shaw:
      return make_shaw({.key_width = config.d_key,
                        .value_width = config.d_value,
                        .max_distance = config.shaw_max_distance,
                        .values = config.shaw_values});
    case Positions::transformer_xl:
      return make_transformer_xl({.d_model = config.d_model, .heads = config.heads, .key_width = config.d_key});
    case Positions::learned:
    case Positions::sinusoidal:
    case Positions::sinusoidal_halves:
    case Positions::none:
      break;
  }
  return nullptr;
}

}  // namespace headprune
