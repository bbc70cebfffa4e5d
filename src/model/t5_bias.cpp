#include "model/t5_bias.h"

#include <cmath>

#include "model/blank.h"
#include "model/distances.h"

namespace headprune {
namespace {

class T5Bias final : public AttentionPositions {
 public:
  explicit T5Bias(const T5Config& config)
      : config_(config), table_(register_parameter("table", blank({config.buckets, config.heads}))) {}
  bool biases() const override { return true; }
  torch::Tensor bias(const PositionCall& call) const override {
    const torch::Device device = call.queries.device();
    const torch::Tensor buckets = t5_buckets(call_distances(call.extent, device), config_);  // [D]
    const torch::Tensor heads = torch::tensor(call.heads, torch::kInt64).to(device);         // [H]
    const torch::Tensor of_distances = table_.index_select(1, heads).index_select(0, buckets).t();
    return at_keys(of_distances, call.extent);  // [H, T, S]
  }

 private:
  T5Config config_;
  torch::Tensor table_;  // [buckets, H of the intact block]
};

}  // namespace

torch::Tensor t5_buckets(const torch::Tensor& distances, const T5Config& config) {
  const int64_t count = config.causal ? config.buckets : config.buckets / 2, exact = count / 2;
  const torch::Tensor away = config.causal ? (-distances).clamp_min(0) : distances.abs();
  // float32 as in transformers, whose rounding decides at the edges of buckets.
  const torch::Tensor far = at::log(away.clamp_min(1).to(torch::kFloat32) / static_cast<double>(exact)) /
                            std::log(static_cast<double>(config.max_distance) / static_cast<double>(exact)) *
                            static_cast<double>(count - exact);
  const torch::Tensor of_far = (far.to(torch::kInt64) + exact).clamp_max(count - 1);
  const torch::Tensor bucket = at::where(away.lt(exact), away, of_far);
  return config.causal ? bucket : bucket + distances.gt(0).to(torch::kInt64) * count;
}

std::shared_ptr<AttentionPositions> make_t5_bias(const T5Config& config) { return std::make_shared<T5Bias>(config); }

}  // namespace headprune
