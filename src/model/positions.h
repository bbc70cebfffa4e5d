// Kinds of positions, and those that are added to token vectors. The others act inside attention
// (attention_positions.h).
#pragma once

#include "config/fields.h"
#include "core/torch.h"

namespace headprune {

/// `sinusoidal_halves` are the numbers of `sinusoidal` in another order: all sines, then all cosines (Marian).
/// `rotary` (in experiments also `rope`), `alibi`, `t5`, `shaw` and `transformer_xl` act inside attention. `none`:
/// nothing says where a token stands but the pattern.
enum class Positions { learned, sinusoidal, sinusoidal_halves, rotary, none, alibi, t5, shaw, transformer_xl };
template <>
struct EnumNames<Positions> {
  static constexpr std::pair<const char*, Positions> names[] = {{"learned", Positions::learned},
                                                                {"sinusoidal", Positions::sinusoidal},
                                                                {"sinusoidal_halves", Positions::sinusoidal_halves},
                                                                {"rotary", Positions::rotary},
                                                                {"none", Positions::none},
                                                                {"alibi", Positions::alibi},
                                                                {"t5", Positions::t5},
                                                                {"shaw", Positions::shaw},
                                                                {"transformer_xl", Positions::transformer_xl},
                                                                {"rope", Positions::rotary}};
};
inline bool is_sinusoidal(Positions positions) {
  return positions == Positions::sinusoidal || positions == Positions::sinusoidal_halves;
}

/// Vaswani et al. 2017, section 3.5: PE(t, 2i) = sin(t / 10000^(2i / C)), PE(t, 2i + 1) = cos of the same, of the
/// places t [T] int64, which may be negative. With `halves`, the sines stand before all cosines. [T, C]
torch::Tensor sinusoids(const torch::Tensor& places, int64_t d_model, const torch::TensorOptions& options, bool halves);
/// Of the first `length` places. [T, C]
torch::Tensor sinusoidal_positions(int64_t length, int64_t d_model, const torch::TensorOptions& options,
                                   bool halves = false);

}  // namespace headprune
