#include "model/shaw.h"

#include "model/blank.h"
#include "model/distances.h"

namespace headprune {
namespace {

class Shaw final : public AttentionPositions {
 public:
  explicit Shaw(const ShawConfig& config)
      : config_(config), keys_(register_parameter("keys", blank({rows(), config.key_width}))) {
    if (config.values) values_ = register_parameter("values", blank({rows(), config.value_width}));
  }
  bool biases() const override { return true; }
  torch::Tensor bias(const PositionCall& call) const override {
    const torch::Tensor of_rows = at::matmul(call.queries * call.scale, keys_.t());    // [B, H, T, 2k + 1]
    const torch::Tensor places = row_of(call_distances(call.extent, keys_.device()));  // [D]
    return query_at_keys(of_rows.index_select(3, places), call.extent);                // [B, H, T, S]
  }
  bool adds_values() const override { return config_.values; }
  torch::Tensor values(const torch::Tensor& weights, const Extent& extent) const override {
    const torch::Tensor places = row_of(call_distances(extent, values_.device()));  // [D]
    return at::matmul(by_distance(weights), values_.index_select(0, places));       // [B, H, T, Dv]
  }
  PositionCost cost(int64_t) const override {
    return {.params = 0,
            .flops_per_token = 2 * rows() * (config_.key_width + (config_.values ? config_.value_width : 0))};
  }

 private:
  int64_t rows() const { return 2 * config_.max_distance + 1; }
  torch::Tensor row_of(const torch::Tensor& distances) const {
    return distances.clamp(-config_.max_distance, config_.max_distance) + config_.max_distance;
  }

  ShawConfig config_;
  torch::Tensor keys_, values_;  // [2k + 1, Dk] and [2k + 1, Dv]
};

}  // namespace

std::shared_ptr<AttentionPositions> make_shaw(const ShawConfig& config) { return std::make_shared<Shaw>(config); }

}  // namespace headprune
