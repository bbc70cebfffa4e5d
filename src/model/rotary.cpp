#include "model/rotary.h"

#include <numbers>

namespace headprune {

torch::Tensor rotary_frequencies(const RotaryConfig& config) {
  TORCH_CHECK(config.width > 0 && config.width % 2 == 0, "rotary positions turn pairs, not ", config.width, " numbers");
  // float32 as in transformers: at long distances the rounding of a frequency is seen in the angle.
  const torch::Tensor exponents = torch::arange(0, config.width, 2, torch::kInt64).to(torch::kFloat32) /
                                  static_cast<double>(config.width);             // [Dr / 2]
  const torch::Tensor plain = torch::pow(config.theta, exponents).reciprocal();  // [Dr / 2]
  if (config.scaling == RotaryScaling::none) return plain;
  if (config.scaling == RotaryScaling::linear) return plain / config.factor;
  const auto length = static_cast<double>(config.original_length);
  const double low = config.low_frequency_factor, high = config.high_frequency_factor;
  const torch::Tensor waves = 2 * std::numbers::pi / plain;            // [Dr / 2]
  const torch::Tensor smooth = (length / waves - low) / (high - low);  // [Dr / 2]
  const torch::Tensor mixed = (1 - smooth) * plain / config.factor + smooth * plain;
  const torch::Tensor slow = torch::where(waves > length / low, plain / config.factor, mixed);
  return torch::where(waves < length / high, plain, slow);  // [Dr / 2]
}

Rotary::Rotary(const RotaryConfig& config) : config_(config) { TORCH_CHECK(config.width % 2 == 0, "an even width"); }

Rotary::Table Rotary::table(int64_t length, torch::Device device) const {
  const std::lock_guard lock(mutex_);
  const bool have = longest_.cos.defined() && longest_.cos.size(0) >= length && longest_.cos.device() == device;
  if (!have) {
    const torch::NoGradGuard no_grad;
    const torch::Tensor positions = torch::arange(length, torch::kInt64).to(torch::kFloat32);  // [T]
    const torch::Tensor angles = positions.unsqueeze(1) * rotary_frequencies(config_);         // [T, Dr / 2]
    longest_ = {.cos = angles.cos().to(device), .sin = angles.sin().to(device)};
  }
  return longest_;
}

torch::Tensor Rotary::turn(const torch::Tensor& x, int64_t first) const {
  const int64_t T = x.size(2), half = config_.width / 2;
  const Table all = table(first + T, x.device());
  const torch::Tensor cos = all.cos.narrow(0, first, T).to(x.scalar_type());  // [T, Dr / 2]
  const torch::Tensor sin = all.sin.narrow(0, first, T).to(x.scalar_type());  // [T, Dr / 2]
  const torch::Tensor turned = x.narrow(3, 0, config_.width);                 // [B, H, T, Dr]
  const bool halves = config_.pairs == RotaryPairs::halves;
  const torch::Tensor a =
      halves ? turned.narrow(3, 0, half) : turned.slice(3, 0, config_.width, 2);  // [B, H, T, Dr / 2]
  const torch::Tensor b =
      halves ? turned.narrow(3, half, half) : turned.slice(3, 1, config_.width, 2);          // [B, H, T, Dr / 2]
  const torch::Tensor c = a * cos - b * sin, d = b * cos + a * sin;                          // [B, H, T, Dr / 2]
  torch::Tensor result = halves ? at::cat({c, d}, 3) : torch::stack({c, d}, -1).flatten(3);  // [B, H, T, Dr]
  if (x.size(3) > config_.width)
    result = at::cat({result, x.narrow(3, config_.width, x.size(3) - config_.width)}, 3);  // [B, H, T, Dk]
  return result;
}

}  // namespace headprune
