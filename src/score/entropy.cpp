// Mean over examples of the mean over query positions of the entropy -sum p log p of the head's attention weights.
// A focused head (Voita et al. 2019 look at such heads) has a low one.
#include "score/accumulate.h"

namespace headprune {
namespace {

enum class Which { focused, diffuse };
enum class Scale { log_keys, nats };

}  // namespace

template <>
struct EnumNames<Which> {
  static constexpr std::pair<const char*, Which> names[] = {{"focused", Which::focused}, {"diffuse", Which::diffuse}};
};
template <>
struct EnumNames<Scale> {
  static constexpr std::pair<const char*, Scale> names[] = {{"log_keys", Scale::log_keys}, {"nats", Scale::nats}};
};

namespace {

/// How many keys each query of a block may look at: [B, T] int64. Counted from the batch, not from the weights, whose
/// smallest round to 0.
torch::Tensor visible_keys(const BlockId& block, const Batch& batch) {
  const torch::Tensor queries = query_mask(batch, block.kind).squeeze(1).to(torch::kInt64);  // [B, T]
  if (block.kind == Kind::decoder) return queries.cumsum(1);                                 // [B, T]
  // The encoder's positions are the keys of its own blocks and of the decoder's encoder-decoder attention.
  return batch.present.to(torch::kInt64).sum(1, /*keepdim=*/true).expand_as(queries);  // [B, T]
}

class Entropy final : public ScoreMethod {
 public:
  struct Options {
    Which keep = Which::focused;
    Scale scale = Scale::log_keys;
    bool skip_special = false;
    QueryPositions positions = QueryPositions::all;

    template <class V>
    void fields(V& v) {
      v("keep", keep, "which heads are important: focused (low entropy) or diffuse (high entropy)");
      v("scale", scale,
        "log_keys: divided by the log of the number of visible keys, so in [0, 1]; queries that see one key are left "
        "out. nats: not divided");
      v("skip_special", skip_special, "leave out the rows of special tokens");
      v("positions", positions, kPositionsHelp);
    }
  };
  explicit Entropy(Options options) : options_(options) {}
  std::string note() const override { return fmt::format("positions: {}", enum_name(options_.positions)); }
  Keep keep() const override { return options_.keep == Which::focused ? Keep::small : Keep::large; }
  Needs needs() const override {
    Needs needs;
    needs.attention_weights = true;
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<Collect>(options_, input);
  }

 private:
  class Collect final : public Pass {
   public:
    Collect(const Options& options, const ScoreInput& input)
        : options_(options), model_(input.model), mean_("entropy", input) {}

    void add(const Observation& seen) override {
      for (size_t b = 0; b < mean_.blocks().size(); ++b) {
        const BlockHeads& block = mean_.blocks()[b];
        if (block.heads.empty()) continue;
        const torch::Tensor keys = visible_keys(block.id, seen.batch).unsqueeze(1);  // [B, 1, T]
        torch::Tensor rows = query_rows(model_, b, seen.batch, options_.positions);  // [B, 1, T]
        if (options_.scale == Scale::log_keys) rows = rows.logical_and(keys > 1);
        if (options_.skip_special) rows = rows.logical_and(special_mask(seen.batch, block.id.kind).logical_not());

        torch::Tensor entropy = at::special_entr(seen.trace.weights[b].to(torch::kFloat64)).sum(-1);  // [B, H, T]
        if (options_.scale == Scale::log_keys) entropy = entropy / keys.to(torch::kFloat64).log();
        entropy = torch::where(rows, entropy, torch::zeros({}, entropy.options()));
        const torch::Tensor counted = rows.sum(-1);  // [B, 1]
        mean_.add(b, entropy.sum(-1) / counted.clamp_min(1), seen.batch, counted.squeeze(1) > 0);
      }
    }
    RawScores finish() override { return mean_.finish(); }

   private:
    Options options_;
    const Model& model_;
    ExampleMean mean_;
  };

  Options options_;
};

const Register<ScoreMethod, Entropy> register_entropy{"entropy", "entropy of the attention weights; no gradients"};

}  // namespace
}  // namespace headprune
