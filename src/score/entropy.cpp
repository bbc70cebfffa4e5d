// Mean over examples of the mean over query positions of the entropy -sum p log p of the head's attention weights.
// A focused head (Voita et al. 2019 look at such heads) has a low one. A group has the mean of its heads'.
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

class Entropy final : public ScoreMethod {
 public:
  struct Options {
    Which keep = Which::focused;
    Scale scale = Scale::log_keys;
    bool skip_special = false;
    QueryPositions positions = QueryPositions::all;
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      v("keep", keep, "which heads are important: focused (low entropy) or diffuse (high entropy)");
      v("scale", scale,
        "log_keys: divided by the log of the number of visible keys, so in [0, 1]; queries that see one key are left "
        "out. nats: not divided");
      v("skip_special", skip_special, "leave out the rows of special tokens");
      v("positions", positions, kPositionsHelp);
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit Entropy(Options options) : options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  std::string note() const override { return note_of(options_.positions, unit()); }
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
      for (size_t b = 0; b < mean_.units().blocks().size(); ++b) {
        const BlockHeads& block = mean_.units().blocks()[b];
        if (block.heads.empty()) continue;
        // Counted from the pattern and the batch, not from the weights, whose smallest round to 0.
        const torch::Tensor keys = visible_keys(model_, b, seen.batch).sum(-1);      // [B, H or 1, T]
        torch::Tensor rows = query_rows(model_, b, seen.batch, options_.positions);  // [B, 1, T]
        if (options_.scale == Scale::log_keys) rows = rows.logical_and(keys > 1);
        if (options_.skip_special) rows = rows.logical_and(special_mask(seen.batch, block.id.kind).logical_not());

        torch::Tensor entropy = at::special_entr(seen.trace.weights[b].to(torch::kFloat64)).sum(-1);  // [B, H, T]
        if (options_.scale == Scale::log_keys) entropy = entropy / keys.to(torch::kFloat64).log();
        entropy = torch::where(rows, entropy, torch::zeros({}, entropy.options()));
        const torch::Tensor counted = rows.sum(-1);                                                    // [B, H or 1]
        const torch::Tensor of_units = mean_.units().mean(entropy.sum(-1) / counted.clamp_min(1), b);  // [B, U]
        // Heads that see different keys are compared on the examples in which each of them has a choice.
        mean_.add(b, of_units, seen.batch, (counted > 0).all(1));
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
