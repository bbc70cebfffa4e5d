#include "model/transformer_xl.h"

#include "model/blank.h"
#include "model/distances.h"
#include "model/positions.h"

namespace headprune {
namespace {

class TransformerXl final : public AttentionPositions {
 public:
  explicit TransformerXl(const TransformerXlConfig& config)
      : config_(config),
        content_bias_(register_parameter("content_bias", blank({config.heads, config.key_width}))),
        position_bias_(register_parameter("position_bias", blank({config.heads, config.key_width}))),
        projection_(register_parameter("projection", blank({config.heads * config.key_width, config.d_model}))) {}
  bool biases() const override { return true; }
  torch::Tensor bias(const PositionCall& call) const override {
    const auto options = call.queries.options();
    const torch::Tensor behind = -call_distances(call.extent, options.device());                           // [D]
    const torch::Tensor places = sinusoids(behind, config_.d_model, options, /*halves=*/true);             // [D, C]
    const torch::Tensor of_heads = at::linear(places, projection_).unflatten(1, {-1, config_.key_width});  // [D, H, Dk]
    const torch::Tensor asking = (call.queries + position_bias_.unsqueeze(1)) * call.scale;  // [B, H, T, Dk]
    return query_at_keys(at::matmul(asking, of_heads.permute({1, 2, 0})), call.extent);      // [B, H, T, S]
  }
  torch::Tensor meeting_keys(const torch::Tensor& queries) const override {
    return queries + content_bias_.unsqueeze(1);  // [B, H, T, Dk]
  }
  std::vector<HeadRows> head_rows() const override {
    return {{content_bias_, 1}, {position_bias_, 1}, {projection_, config_.key_width}};
  }
  PositionCost cost(int64_t keys) const override {
    // A text of as many tokens as distances: each token has one of them projected.
    return {.params = config_.key_width * (config_.d_model + 2),
            .flops_per_token = 2 * config_.key_width * (config_.d_model + keys)};
  }

 private:
  TransformerXlConfig config_;
  torch::Tensor content_bias_, position_bias_;  // [H, Dk]
  torch::Tensor projection_;                    // [H Dk, C]
};

}  // namespace

std::shared_ptr<AttentionPositions> make_transformer_xl(const TransformerXlConfig& config) {
  return std::make_shared<TransformerXl>(config);
}

}  // namespace headprune
