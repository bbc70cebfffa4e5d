#include "core/random.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace headprune {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

/// SplitMix64's output for the state `z` (Steele, Lea and Flood 2014; Vigna's splitmix64.c). A bijection.
uint64_t split_mix(uint64_t z) {
  z += kGolden;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

uint64_t stream_seed(uint64_t seed, std::string_view name) {
  uint64_t mixed = split_mix(seed);
  for (const char c : name) mixed = split_mix(mixed ^ static_cast<unsigned char>(c));
  return mixed;
}

Random::Random(uint64_t seed) {
  for (auto& word : state_) {
    word = split_mix(seed);
    seed += kGolden;
  }
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

uint64_t Random::below(uint64_t n) {
  if (n == 0) throw std::logic_error("Random::below: n is 0");
  // Values under 2^64 mod n would make small results more likely than large ones.
  const uint64_t threshold = (0 - n) % n;
  uint64_t value = next();
  while (value < threshold) value = next();
  return value % n;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is in (0, 1]: never log(0)
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace headprune
