#include "model/alibi.h"

#include <cmath>

#include "model/distances.h"

namespace headprune {
namespace {

class Alibi final : public AttentionPositions {
 public:
  explicit Alibi(int64_t heads) : slopes_(alibi_slopes(heads)) {}
  bool biases() const override { return true; }
  torch::Tensor bias(const PositionCall& call) const override {
    std::vector<double> slopes;
    for (const int64_t head : call.heads) slopes.push_back(slopes_.at(static_cast<size_t>(head)));
    const auto options = call.queries.options();
    const torch::Tensor distances = call_distances(call.extent, options.device()).abs().to(options.dtype());  // [D]
    const torch::Tensor falls = torch::tensor(slopes, torch::kFloat64).to(options).unsqueeze(1) * -distances;
    return at_keys(falls, call.extent);  // [H, T, S]
  }

 private:
  std::vector<double> slopes_;
};

}  // namespace

std::vector<double> alibi_slopes(int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (int64_t h = 0; h < heads; ++h) {
    const double place = h < power ? static_cast<double>(h + 1) : static_cast<double>(h - power) + 0.5;
    slopes.push_back(std::exp2(-8 * place / static_cast<double>(power)));
  }
  return slopes;
}

std::shared_ptr<AttentionPositions> make_alibi(int64_t heads) { return std::make_shared<Alibi>(heads); }

}  // namespace headprune
