// Rotary positions (Su et al. 2021, arXiv 2104.09864): queries and keys are turned, pair by pair, by angles that grow
// with the position, so that their products depend on distances alone.
#pragma once

#include <memory>
#include <mutex>

#include "config/fields.h"
#include "model/attention_positions.h"

namespace headprune {

/// Which two numbers of a head form a pair: i and i + Dr / 2 (Llama, GPT-NeoX), or 2i and 2i + 1 (the paper, GPT-J).
enum class RotaryPairs { halves, neighbours };
template <>
struct EnumNames<RotaryPairs> {
  static constexpr std::pair<const char*, RotaryPairs> names[] = {{"halves", RotaryPairs::halves},
                                                                  {"neighbours", RotaryPairs::neighbours},
                                                                  {"half", RotaryPairs::halves},
                                                                  {"interleaved", RotaryPairs::neighbours}};
};

/// How frequencies are changed for texts longer than those that the model was trained on. `linear`: all divided by
/// `factor`. `llama3` (Llama 3.1): those of wavelengths above L / low_frequency_factor divided by it, those below L /
/// high_frequency_factor kept, between them a mixture, with L = original_length.
enum class RotaryScaling { none, linear, llama3 };
template <>
struct EnumNames<RotaryScaling> {
  static constexpr std::pair<const char*, RotaryScaling> names[] = {
      {"none", RotaryScaling::none}, {"linear", RotaryScaling::linear}, {"llama3", RotaryScaling::llama3}};
};

struct RotaryConfig {
  int64_t width = 0;  // Dr, even: the first numbers of a head that are turned; the others stay
  double theta = 10000;
  RotaryPairs pairs = RotaryPairs::halves;
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1, low_frequency_factor = 1, high_frequency_factor = 4;
  int64_t original_length = 8192;
};

/// Frequency of each pair, radians a position, before scaling theta^(-2i / Dr). [Dr / 2] float32
torch::Tensor rotary_frequencies(const RotaryConfig& config);

/// Shared by the layers of a model; safe in several threads.
class Rotary final : public AttentionPositions {
 public:
  explicit Rotary(const RotaryConfig& config);
  /// `x` [B, H, T, Dk], the first of T at position `first`.
  torch::Tensor turn(const torch::Tensor& x, int64_t first) const override;

 private:
  struct Table {
    torch::Tensor cos, sin;  // [length, Dr / 2] float32
  };
  Table table(int64_t length, torch::Device device) const;

  RotaryConfig config_;
  mutable std::mutex mutex_;
  mutable Table longest_;  // as far as was asked for so far
};

}  // namespace headprune
