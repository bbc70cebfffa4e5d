// Heads that look at a fixed distance (Voita et al. 2019, section 5.1), at the first position (the sink of Xiao et al.
// 2024) or at themselves. Of queries that see two keys or more; an offset counts where the query can see it. Of
// attention between two texts only the first position is looked at: distances mean nothing there.
#include <fmt/format.h>

#include "analysis/shares.h"

namespace headprune {
namespace {

class Positional final : public Analysis {
 public:
  struct Options {
    std::vector<int64_t> offsets = {-2, -1, 1, 2};
    double threshold = 0.9;
    double sink_threshold = 0.3;

    template <class V>
    void fields(V& v) {
      v("offsets", offsets, "distances from the query to be counted; -1 is the token before it", not_empty);
      v("threshold", threshold,
        "a head is positional from this share of queries on whose largest weight goes to one offset", between(0, 1));
      v("sink_threshold", sink_threshold, "a head is a sink from this mean weight of the first position on",
        between(0, 1));
    }
  };
  explicit Positional(Options options) : options_(std::move(options)) {}
  std::vector<std::string> roles() const override { return {"positional", "sink"}; }
  std::unique_ptr<Pass> start(const AnalysisInput& input) const override {
    std::vector<std::string> names = {"weight_first", "weight_self", "largest_self"};
    std::vector<RoleRule> positional = {
        {.column = "largest_self", .role = "positional", .detail = "itself", .threshold = options_.threshold}};
    for (const int64_t offset : options_.offsets) {
      names.push_back(fmt::format("largest_{:+}", offset));
      positional.push_back({.column = names.back(),
                            .role = "positional",
                            .detail = fmt::format("offset {:+}", offset),
                            .threshold = options_.threshold});
    }
    const RoleRule sink{.column = "weight_first", .role = "sink", .detail = "", .threshold = options_.sink_threshold};
    return std::make_unique<Shares>(
        std::move(names), input, [this](const BlockView& view) { return look(view); },
        [positional, sink](AnalysisResult& result) {
          find_role(positional, result);
          find_role({sink}, result);
        });
  }

 private:
  std::vector<Share> look(const BlockView& view) const {
    const torch::Tensor queries = view.choosing();  // [B, 1, T]
    const int64_t keys = view.weights.size(3);
    const torch::Tensor key = torch::arange(keys, queries.options().dtype(torch::kInt64));        // [S]
    const torch::Tensor query = torch::arange(view.weights.size(2), key.options()).unsqueeze(1);  // [T, 1]
    std::vector<Share> shares = {weight_share(view, key.eq(0), queries)};
    const auto at = [&](int64_t offset) { return key.eq(query + offset).logical_and(view.visible); };  // [B, 1, T, S]
    if (!view.self_attention()) {
      shares.resize(3 + options_.offsets.size());
      return shares;
    }
    shares.push_back(weight_share(view, at(0), queries));
    shares.push_back(largest_share(view, at(0), queries));
    for (const int64_t offset : options_.offsets) {
      const torch::Tensor there = at(offset);  // [B, 1, T, S]
      shares.push_back(largest_share(view, there, queries.logical_and(there.any(-1))));
    }
    return shares;
  }

  Options options_;
};

const Register<Analysis, Positional> register_positional{
    "positional",
    "heads whose largest weight goes to a fixed distance, and weight of the first position and of itself"};

}  // namespace
}  // namespace headprune
