// Named random streams. Every consumer of randomness derives its own stream from the run's seed and a name, so adding
// a consumer moves no other. The distributions are ours: the standard library's differ between implementations.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace headprune {

/// The seed of a named stream: SplitMix64 of `seed` and the bytes of `name`. Further parts (an epoch, a draw) go into
/// the name: stream_seed(seed, "data/epoch-3").
uint64_t stream_seed(uint64_t seed, std::string_view name);

/// xoshiro256** seeded by SplitMix64 (Blackman and Vigna 2018).
class Random {
 public:
  explicit Random(uint64_t seed);
  Random(uint64_t seed, std::string_view name) : Random(stream_seed(seed, name)) {}
  uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in 0 ... n - 1, without modulo bias; n > 0.
  uint64_t below(uint64_t n);
  /// Standard normal (Box-Muller, one value a call).
  double normal();
  /// Fisher-Yates.
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  uint64_t state_[4];
};

}  // namespace headprune
