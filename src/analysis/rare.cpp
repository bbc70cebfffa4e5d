// Heads whose largest weight goes to the rarest token of a text (Voita et al. 2019, section 5.3). Frequencies are those
// of the train part; special tokens are never the rarest. Tokens that are equally rare count alike.
#include "analysis/shares.h"
#include "analysis/token_sets.h"

namespace headprune {
namespace {

class Rare final : public Analysis {
 public:
  struct Options {
    int64_t frequent = 500;
    double threshold = 0.5;

    template <class V>
    void fields(V& v) {
      v("frequent", frequent,
        "texts whose rarest token is one of this many most frequent ones are left out, for they have no rare token",
        at_least(0));
      v("threshold", threshold,
        "a head looks at the rarest token from this share of queries on whose largest weight it has", between(0, 1));
    }
  };
  explicit Rare(Options options) : options_(options) {}
  std::vector<std::string> roles() const override { return {"rare"}; }

  std::unique_ptr<Pass> start(const AnalysisInput& input) const override {
    const RoleRule rule{.column = "largest_on_rarest", .role = "rare", .detail = "", .threshold = options_.threshold};
    return std::make_unique<Shares>(
        std::vector<std::string>{"largest_on_rarest", "largest_on_two_rarest"}, input,
        [source = counts_of(input, TextSide::source), target = counts_of(input, TextSide::target)](
            const BlockView& view) { return look(view, key_side(view) == TextSide::source ? source : target); },
        [rule](AnalysisResult& result) {
          find_role({rule}, result);
          result.notes.push_back("frequencies: of the train part");
        });
  }

 private:
  struct Counts {
    torch::Tensor of_id;  // [vocabulary] float64: how often it stands in the train part; infinity where special
    double frequent = 0;  // what a token must stay below to be rare
  };

  Counts counts_of(const AnalysisInput& input, TextSide side) const {
    const SideVocabulary vocabulary = side_vocabulary(*input.dataset.tokenizer, side);
    if (vocabulary.size == 0) return {};
    Counts counts{.of_id = train_counts(input.dataset, vocabulary, side)};
    for (const std::vector<int64_t>* special : {&vocabulary.before, &vocabulary.after})
      for (const int64_t id : *special) counts.of_id[id] = INFINITY;
    counts.frequent = count_at_rank(counts.of_id.index({counts.of_id.isfinite()}), options_.frequent);
    return counts;
  }

  static std::vector<Share> look(const BlockView& view, const Counts& counts) {
    if (!counts.of_id.defined()) return {};
    const torch::Tensor& ids = view.key_ids();  // [B, S]
    const torch::Tensor inside = ids.clamp_max(counts.of_id.size(0) - 1);
    torch::Tensor rarity = counts.of_id.to(ids.device()).index({inside});  // [B, S]
    rarity = torch::where(view.key_present(), rarity, torch::full_like(rarity, INFINITY));
    // What a decoder sees grows with the query: the rarest token is that of the keys in sight.
    const torch::Tensor in_sight =
        torch::where(view.visible, rarity.unsqueeze(1).unsqueeze(2), torch::full({}, INFINITY, rarity.options()));
    const int64_t two = std::min<int64_t>(2, in_sight.size(3));
    const torch::Tensor lowest = std::get<0>(in_sight.topk(two, -1, /*largest=*/false));  // [B, 1, T, 2]
    const torch::Tensor first = lowest.select(3, 0);                                      // [B, 1, T]
    const torch::Tensor second = lowest.select(3, two - 1);                               // [B, 1, T]
    const torch::Tensor queries = view.choosing().logical_and(first < counts.frequent);   // [B, 1, T]
    const auto among = [&](const torch::Tensor& limit) {
      return in_sight.le(limit.unsqueeze(-1)).logical_and(in_sight.isfinite());  // [B, 1, T, S]
    };
    return {largest_share(view, among(first), queries), largest_share(view, among(second), queries)};
  }

  Options options_;
};

const Register<Analysis, Rare> register_rare{"rare", "heads whose largest weight goes to the rarest token of a text"};

}  // namespace
}  // namespace headprune
