#include "model/dropout.h"

#include "model/support.h"
#include "support/threads.h"

namespace headprune {
namespace {

using namespace testing;

torch::Tensor dropped_ones(int64_t count, double p, uint64_t seed) {
  torch::manual_seed(seed);
  return apply_dropout(torch::ones({count}), p, true);
}

TEST_CASE("dropout drops each number with its probability and keeps the mean", "[model]") {
  const int64_t count = 1'000'003;  // no multiple of what one draw serves
  for (const double p : {0.0001, 0.1, 0.5, 0.9}) {
    const torch::Tensor y = dropped_ones(count, p, 7);
    REQUIRE(y.numel() == count);
    const torch::Tensor gone = y == 0;
    const auto n = static_cast<double>(count);
    const double share = gone.sum().item<double>() / n, deviation = std::sqrt(p * (1 - p) / n);
    INFO("p " << p << ", share " << share);
    CHECK(std::abs(share - p) < 4 * deviation + 1.0 / 131072);  // 16 bits say p
    CHECK(y.masked_select(gone.logical_not()).sub(1 / (1 - p)).abs().max().item<double>() < 1e-4 / (1 - p));
    CHECK(std::abs(y.to(torch::kFloat64).mean().item<double>() - 1) < 4 * deviation / (1 - p) + 1e-6);
    // Neighbours that share a draw do not share their fate: pairs at distance 1 to 4 are both gone p^2 of the time.
    const torch::Tensor bits = gone.to(torch::kFloat64);
    for (int64_t distance = 1; distance <= 4; ++distance) {
      const double both =
          (bits.narrow(0, 0, count - distance) * bits.narrow(0, distance, count - distance)).mean().item<double>();
      CHECK(std::abs(both - p * p) < 5 * std::sqrt(p * p / n) + 2 * p / 131072);
    }
  }
}

TEST_CASE("dropout is a function of the generator's state, whatever the threads", "[model]") {
  const torch::Tensor first = dropped_ones(100'000, 0.3, 1);
  const WithThreads with(3);
  CHECK(first.equal(dropped_ones(100'000, 0.3, 1)));
  CHECK_FALSE(first.equal(dropped_ones(100'000, 0.3, 2)));
  torch::manual_seed(1);
  const torch::Tensor x = torch::ones({4, 9});
  CHECK_FALSE(apply_dropout(x, 0.5, true).equal(apply_dropout(x, 0.5, true)));
}

TEST_CASE("dropout outside training, of nothing, and next to everything", "[model]") {
  const torch::Tensor x = random_tensor({3, 5}, 1).to(torch::kFloat32);
  CHECK(apply_dropout(x, 0.5, false).is_same(x));
  CHECK(apply_dropout(x, 0, true).is_same(x));
  CHECK(apply_dropout(torch::empty({0, 4}), 0.5, true).sizes() == torch::IntArrayRef({0, 4}));
  const torch::Tensor rest = dropped_ones(10'000'000, 0.9999999, 1);  // one step stays: one number in 65,536
  CHECK(rest.max().item<double>() == 65536);
  CHECK(std::abs(rest.count_nonzero().item<double>() - 152.6) < 60);
  CHECK(apply_dropout(x.to(torch::kFloat64), 0.5, true).scalar_type() == torch::kFloat64);
}

TEST_CASE("dropout's gradient goes where its numbers went", "[model]") {
  torch::Tensor x = random_tensor({200}, 3).requires_grad_();
  const torch::Tensor y = apply_dropout(x, 0.4, true);
  const torch::Tensor gradient = torch::autograd::grad({y.sum()}, {x})[0];
  CHECK(max_difference(gradient * x.detach(), y.detach()) < 1e-12);
  CHECK((gradient == 0).any().item<bool>());
  CHECK((gradient != 0).any().item<bool>());
}

}  // namespace
}  // namespace headprune
