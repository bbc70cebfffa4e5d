// Positions that are added to token vectors. Those that act inside attention are in rotary.h.
#pragma once

#include "config/fields.h"
#include "core/torch.h"

namespace headprune {

/// `sinusoidal_halves` are the numbers of `sinusoidal` in another order: all sines, then all cosines (Marian).
/// `rotary`: none are added; queries and keys are turned (rotary.h). `none`: nothing says where a token stands but the
/// pattern.
enum class Positions { learned, sinusoidal, sinusoidal_halves, rotary, none };
template <>
struct EnumNames<Positions> {
  static constexpr std::pair<const char*, Positions> names[] = {{"learned", Positions::learned},
                                                                {"sinusoidal", Positions::sinusoidal},
                                                                {"sinusoidal_halves", Positions::sinusoidal_halves},
                                                                {"rotary", Positions::rotary},
                                                                {"none", Positions::none}};
};
inline bool is_sinusoidal(Positions positions) {
  return positions == Positions::sinusoidal || positions == Positions::sinusoidal_halves;
}

/// Vaswani et al. 2017, section 3.5: PE(t, 2i) = sin(t / 10000^(2i / C)), PE(t, 2i + 1) = cos of the same. With
/// `halves`, the sines stand before all cosines. [T, C]
torch::Tensor sinusoidal_positions(int64_t length, int64_t d_model, const torch::TensorOptions& options,
                                   bool halves = false);

}  // namespace headprune
