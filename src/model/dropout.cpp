#include "model/dropout.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headprune {

torch::Tensor apply_dropout(const torch::Tensor& x, double p, bool training) {
  if (!training || p == 0) return x;
  if (!x.is_cpu()) return at::dropout(x, p, training);
  constexpr int64_t kSteps = 65536, kNumbersPerDraw = 4;
  const int64_t dropped = std::min<int64_t>(std::llround(p * kSteps), kSteps - 1), count = x.numel();
  const torch::Tensor draws = torch::empty({(count + kNumbersPerDraw - 1) / kNumbersPerDraw}, torch::kInt64);  // [N]
  draws.random_(std::numeric_limits<int64_t>::min(), std::optional<int64_t>());              // all 64 bits
  const torch::Tensor bits = draws.view(torch::kInt16).narrow(0, 0, count).view(x.sizes());  // as x
  const torch::Tensor kept = bits.ge(dropped + std::numeric_limits<int16_t>::min());
  return x * kept.to(x.scalar_type()).mul_(static_cast<double>(kSteps) / static_cast<double>(kSteps - dropped));
}

}  // namespace headprune
