// A window by blocks is the window by a mask over all pairs, forwards and backwards.
#include "model/local_pattern.h"

#include "model/attention.h"
#include "model/make_positions.h"
#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

/// The same keys, without saying that they stand near: every pair is looked at.
class Dense final : public Pattern {
 public:
  explicit Dense(std::shared_ptr<const Pattern> pattern) : pattern_(std::move(pattern)) {}
  torch::Tensor visible(const Extent& extent, torch::Device device) const override {
    return pattern_->visible(extent, device);
  }
  int64_t most_keys(int64_t length, int64_t head) const override { return pattern_->most_keys(length, head); }

 private:
  std::shared_ptr<const Pattern> pattern_;
};

constexpr int64_t kLength = 150;
constexpr Reach kReaches[] = {{.back = 6, .ahead = 0}, {.back = 5, .ahead = 5}, {.back = 40, .ahead = 0}};

/// Grouped heads with positions of that kind, none of whose parameters is 0.
std::shared_ptr<Attention> near_attention(Positions positions, Kind kind) {
  TransformerConfig config = small_config(kind);
  config.heads = 4;
  config.groups = 2;
  config.d_key = 6;
  config.positions = positions;
  config.shaw_max_distance = 3;
  config.t5_buckets = 8;
  config.t5_max_distance = 12;
  const auto attention =
      std::make_shared<Attention>(AttentionConfig{.d_model = config.d_model,
                                                  .layout = config.layout(),
                                                  .positions = make_attention_positions(config, kind),
                                                  .own_positions = config.positions != Positions::learned});
  attention->to(torch::kFloat64);
  disturb(*attention, 5, 0.5);
  attention->remove_heads({0, 2});
  attention->eval();
  return attention;
}

/// 3 texts: one whole, one with padding behind, one with padding in front.
torch::Tensor padded_texts() {
  torch::Tensor present = torch::ones({3, kLength}, torch::kBool);
  present[1].narrow(0, 60, kLength - 60).fill_(false);
  present[2].narrow(0, 0, 70).fill_(false);
  return present;
}

}  // namespace

TEST_CASE("a window by blocks equals a window by a mask, forwards and backwards", "[model][pattern][local]") {
  for (const Positions positions : {Positions::learned, Positions::rotary, Positions::alibi, Positions::t5,
                                    Positions::shaw, Positions::transformer_xl})
    for (const Reach& reach : kReaches)
      for (const bool padded : {false, true})
        for (const auto type : {torch::kFloat64, torch::kFloat32}) {
          INFO(enum_name(positions) << ", reach " << reach.back << " and " << reach.ahead
                                    << (padded ? ", padded" : ""));
          const auto attention = near_attention(positions, reach.ahead > 0 ? Kind::encoder : Kind::decoder);
          attention->to(type);
          const auto pattern = local_pattern(reach);
          CHECK(LocalBlocks(reach, kLength).pays());
          const torch::Tensor present = padded ? padded_texts() : torch::Tensor();
          const torch::Tensor direction = random_tensor({3, 2, kLength, 2}, 8).to(type);
          const auto run = [&](const std::shared_ptr<const Pattern>& seen) {
            const torch::Tensor x = random_tensor({3, kLength, 12}, 7).to(type).requires_grad_();
            attention->zero_grad();
            const torch::Tensor context = attention->attend(x, x, Visibility(seen, present)).context;
            // Rows of padding mean nothing.
            const torch::Tensor real = padded ? context * present.unsqueeze(1).unsqueeze(3) : context;  // [B, H, T, Dv]
            (real * direction).sum().backward();
            std::vector<torch::Tensor> all = {real.detach(), x.grad()};
            for (const torch::Tensor& parameter : attention->parameters())
              if (parameter.grad().defined()) all.push_back(parameter.grad().clone());
            return all;
          };
          const std::vector<torch::Tensor> blocks = run(pattern), dense = run(std::make_shared<Dense>(pattern));
          REQUIRE(blocks.size() == dense.size());
          for (size_t i = 0; i < blocks.size(); ++i) {
            const double largest = std::max(1.0, dense[i].abs().max().item<double>());
            CHECK(max_difference(blocks[i], dense[i]) / largest < (type == torch::kFloat64 ? 1e-11 : 1e-5));
          }
          CHECK(dense.front().abs().max().item<double>() > 0.1);
        }
}

TEST_CASE("few queries of a long text look at the keys around them alone, and see the same",
          "[model][pattern][local]") {
  const torch::NoGradGuard no_grad;
  for (const Positions positions : {Positions::rotary, Positions::alibi, Positions::shaw, Positions::transformer_xl})
    for (const Reach& reach : kReaches) {
      const auto attention = near_attention(positions, reach.ahead > 0 ? Kind::encoder : Kind::decoder);
      const torch::Tensor x = random_tensor({3, kLength, 12}, 7), present = padded_texts();
      const KeyValues keys = attention->project(x);
      const auto near = local_pattern(reach);
      for (const auto& [first, count] : {std::pair(0, 1), std::pair(100, 1), std::pair(147, 3), std::pair(20, 7)}) {
        const torch::Tensor queries = x.narrow(1, first, count);
        const auto of = [&](const std::shared_ptr<const Pattern>& pattern) {
          return attention->attend(queries, keys, Visibility(pattern, present), false, first).context;
        };
        CHECK(max_difference(of(near), of(std::make_shared<Dense>(near))) < 1e-12);
      }
    }
}

TEST_CASE("blocks hold a number of pairs that grows with the length, and not with its square",
          "[model][pattern][local]") {
  const Reach window{.back = 127, .ahead = 0};
  const auto pairs = [&](int64_t length) {
    const LocalBlocks blocks(window, length);
    const torch::Tensor mask = blocks.mask(*local_pattern(window), {}, 1, torch::kCPU);
    CHECK(mask.sum().item<int64_t>() >= length);
    return static_cast<double>(mask.numel());
  };
  CHECK(pairs(8192) / pairs(512) == Approx(16).epsilon(0.01));
  CHECK(pairs(4096) < 2.0 * 4096 * 128);
  CHECK_FALSE(LocalBlocks(window, 200).pays());
  CHECK(LocalBlocks(window, 512).pays());
}

}  // namespace headprune
