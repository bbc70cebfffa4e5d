// Heads that do what another one does go first: at each step the one with the smallest distance to a head that is left.
// A head's value is that distance, so that the order of values is the order of going.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/stop.h"
#include "model/side_by_side.h"
#include "score/accumulate.h"
#include "score/head_pairs.h"
#include "score/masked_losses.h"

namespace headprune {
namespace {

/// The texts of batches in the order of their indices, the first `texts` of them.
std::vector<Example> first_examples(const std::vector<Batch>& batches, int64_t texts) {
  std::vector<std::pair<int64_t, Example>> found;
  const auto ids = [](const torch::Tensor& of, const torch::Tensor& present, int64_t row) {
    const torch::Tensor there = of[row].index({present[row]}).to(torch::kCPU, torch::kInt64).contiguous();
    const int64_t* const data = there.const_data_ptr<int64_t>();
    return std::vector<int64_t>(data, data + there.numel());
  };
  for (const Batch& batch : batches)
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t index = batch.examples[static_cast<size_t>(row)];
      if (index >= texts) continue;
      Example one;
      one.tokens = ids(batch.tokens, batch.present, row);
      if (batch.token_types.defined()) one.token_types = ids(batch.token_types, batch.present, row);
      if (batch.decoder_tokens.defined()) one.decoder_tokens = ids(batch.decoder_tokens, batch.decoder_present, row);
      const std::vector<int64_t> special = ids(batch.special, batch.present, row);
      for (int64_t at = 0; at < std::ssize(special); ++at)
        if (special[static_cast<size_t>(at)] != 0) one.special.push_back(at);
      found.emplace_back(index, std::move(one));
    }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Example> examples;
  for (auto& [index, example] : found) examples.push_back(std::move(example));
  return examples;
}

/// Of units, [U, U]: the mean over their heads that are present, two by two.
torch::Tensor between_units(const torch::Tensor& of_heads, const std::vector<std::vector<int64_t>>& heads_of) {
  const auto count = std::ssize(heads_of);
  torch::Tensor memberships = torch::zeros({count, of_heads.size(0)}, torch::kFloat64);  // [U, N]
  for (int64_t u = 0; u < count; ++u)
    for (const int64_t head : heads_of[static_cast<size_t>(u)])
      memberships[u][head] = 1 / static_cast<double>(heads_of[static_cast<size_t>(u)].size());
  const torch::Tensor unknown = of_heads.isnan();
  const torch::Tensor means = memberships.matmul(of_heads.masked_fill(unknown, 0)).matmul(memberships.t());  // [U, U]
  const torch::Tensor lacking = memberships.matmul(unknown.to(torch::kFloat64)).matmul(memberships.t());     // [U, U]
  return means.masked_fill(lacking > 0, NAN);
}

class RedundancyScore final : public ScoreMethod {
 public:
  struct Options : HeadPairOptions {
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      HeadPairOptions::fields(v);
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit RedundancyScore(Options options) : options_(options) {}
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  Needs needs() const override {
    Needs needs;
    needs.data = false;  // it has batches of its own
    return needs;
  }
  std::string note() const override {
    return fmt::format("distances: {}, {} tokens of {} texts", enum_name(options_.measure), options_.max_tokens,
                       options_.texts);
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<Compare>(options_, input);
  }

 private:
  class Compare final : public Pass {
   public:
    Compare(const Options& options, const ScoreInput& input)
        : options_(options), input_(input), units_(input.units()), places_(input.model) {}
    void add(const Observation&) override {}
    RawScores finish() override;

   private:
    PairSums sums(const std::vector<Batch>& batches);
    void require_finite_heads(size_t block, const HeadContexts& heads, const Batch& batch) const;

    Options options_;
    ScoreInput input_;
    ScoreUnits units_;
    PairPlaces places_;
  };

  Options options_;
};

void RedundancyScore::Compare::require_finite_heads(size_t block, const HeadContexts& heads, const Batch& batch) const {
  const torch::Tensor of_heads = heads.weights.sum({2, 3}) + heads.context.sum({2, 3});  // [B, H]
  const PerBlock survives = surviving_heads(units_.blocks(), units_.removed());
  require_finite(units_.sum(of_heads, block), batch,
                 {"redundancy", units_.blocks()[block], survives[block], units_.unit()});
}

PairSums RedundancyScore::Compare::sums(const std::vector<Batch>& batches) {
  const FrozenModel frozen(input_.model);
  PairSums all(places_.heads);
  side_by_side(batches.size(), batches_at_once(input_.model, batches, PassKind::forward), [&](size_t i) {
    check_stop();
    const torch::NoGradGuard no_gradients;
    const Batch& batch = batches[i];
    const auto look = std::make_shared<PairLook>(places_);
    HeadProbe probe;
    probe.gates = mask_gates(places_.blocks, input_.removed, batch.tokens.device());
    probe.see = [&](size_t block, const HeadContexts& heads) {
      if (places_.blocks[block].heads.empty()) return;
      require_finite_heads(block, heads, batch);
      const torch::Tensor queries = query_mask(batch, places_.blocks[block].id.kind);  // [B, 1, T]
      look->see(block, heads, visible_keys(input_.model, block, batch).logical_and(queries.unsqueeze(-1)));
    };
    input_.model.forward(batch, probe);
    return [&all, look] { all += look->sums; };
  });
  return all;
}

RawScores RedundancyScore::Compare::finish() {
  if (input_.batches.empty()) fail(ExitCode::run_failed, "the score split is empty; no head can be scored on it");
  const std::vector<Example> examples = first_examples(input_.batches, options_.texts);
  const std::vector<Batch> batches = pair_batches(examples, options_, input_.batches.front().tokens.device());
  const torch::Tensor distance = sums(batches).matrices().distance(options_.measure);  // [N, N]
  std::vector<std::vector<int64_t>> heads_of;                                          // of each surviving unit
  std::vector<std::pair<size_t, int64_t>> places;                                      // its block, its place there
  for (size_t b = 0; b < units_.blocks().size(); ++b)
    for (int64_t u = 0; u < units_.blocks()[b].count(); ++u) {
      if (units_.removed().contains({units_.blocks()[b].id, units_.blocks()[b].heads[static_cast<size_t>(u)]}))
        continue;
      std::vector<int64_t>& heads = heads_of.emplace_back();
      for (const int64_t at : units_.places(b, static_cast<size_t>(u))) {
        const HeadId head{places_.blocks[b].id, places_.blocks[b].heads[static_cast<size_t>(at)]};
        if (!input_.removed.contains(head)) heads.push_back(places_.first[b] + at);
      }
      places.emplace_back(b, u);
    }
  RawScores raw = blank_scores(units_.blocks(), std::ssize(examples), /*error=*/false);
  const torch::Tensor apart = between_units(distance, heads_of);  // [U, U]
  // What can be compared with nothing that is left goes after everything else.
  const torch::Tensor known = apart.index({apart.isfinite()});
  const double most = known.numel() > 0 ? known.max().item<double>() : 0;
  for (const NearestGone& gone : nearest_first(distances_of(apart))) {
    const auto& [block, place] = places[static_cast<size_t>(gone.thing)];
    raw.values[block][place] = std::isfinite(gone.distance) ? gone.distance : 2 * most;
  }
  raw.batches = std::ssize(batches);
  raw.examples = std::ssize(examples);
  return raw;
}

const Register<ScoreMethod, RedundancyScore> register_redundancy_score{
    "redundancy", "distance to the nearest head that is left, the nearest going first"};

}  // namespace
}  // namespace headprune
