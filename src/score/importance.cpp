// The one driver of all scores: a single pass over the data for every method that wants one.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/log.h"
#include "core/stop.h"
#include "core/text.h"
#include "model/side_by_side.h"
#include "score/accumulate.h"
#include "score/observe.h"

namespace headprune {
namespace {

/// A method at work.
struct Running {
  const ScoreRequest* request = nullptr;
  Needs needs;
  ScoreUnits units;
  std::unique_ptr<ScoreMethod::Pass> pass;
};

Needs unite(const std::vector<Running>& all) {
  Needs sum;
  sum.data = false;
  for (const Running& one : all) {
    sum.data |= one.needs.data;
    sum.gate_gradients |= one.needs.gate_gradients;
    sum.context_gradients |= one.needs.context_gradients;
    sum.weight_gradients |= one.needs.weight_gradients;
    sum.contexts |= one.needs.contexts;
    sum.attention_weights |= one.needs.attention_weights;
  }
  return sum;
}

/// Shows the batches of the score split to every method that looks at data.
void pass_over_data(const std::vector<Running>& all, const Needs& needs, const ScoreInput& input) {
  if (input.batches.empty()) fail(ExitCode::run_failed, "the score split is empty; no head can be scored on it");
  const Observer observer(input, needs);
  const int64_t at_once = batches_at_once(input.model, input.batches, PassKind::backward);
  side_by_side(input.batches.size(), at_once, [&](size_t i) {
    check_stop();
    return [&, i, observation = observer.observe(input.batches[i])] {
      for (const Running& one : all)
        if (one.needs.data) one.pass->add(observation);
      if (input.on_batch) input.on_batch(i + 1);
    };
  });
}

/// A method's own values: shapes right, surviving units finite, removed units 0, and larger = keep.
void check_and_turn(RawScores& raw, const Running& one) {
  const ScoreRequest& request = *one.request;
  const Blocks& blocks = one.units.blocks();
  const PerBlock survives = surviving_heads(blocks, one.units.removed());
  TORCH_CHECK(raw.values.size() == blocks.size(), "score ", request.label, " gave another number of blocks");
  TORCH_CHECK(raw.n.empty() || raw.n.size() == blocks.size(), "score ", request.label,
              " counted the examples of another number of blocks");
  TORCH_CHECK(raw.stderr_.empty() || raw.stderr_.size() == blocks.size(), "score ", request.label,
              " gave standard errors for another number of blocks");
  const bool negate = request.method->keep() == Keep::small;
  for (size_t b = 0; b < blocks.size(); ++b) {
    torch::Tensor& values = raw.values[b];
    TORCH_CHECK(values.sizes() == survives[b].sizes() && values.scalar_type() == torch::kFloat64, "score ",
                request.label, " gave values that are not float64 [U]");
    const torch::Tensor bad = values.isfinite().logical_not().logical_and(survives[b]);
    if (bad.any().item<bool>()) {
      const int64_t at = bad.nonzero()[0].item<int64_t>();
      const HeadId unit{blocks[b].id, blocks[b].heads[static_cast<size_t>(at)]};
      fail(ExitCode::run_failed, "score {}: {} comes to {} over the whole score split; the model overflows there",
           request.label, unit_text(unit, one.units.unit()), values[at].item<double>());
    }
    const torch::Tensor zero = torch::zeros({}, torch::kFloat64);
    values = torch::where(survives[b], negate ? 0 - values : values, zero);  // 0 - x: no negative zeros
    if (!raw.stderr_.empty() && raw.stderr_[b].defined())
      raw.stderr_[b] = torch::where(survives[b], raw.stderr_[b], zero);
    for (PerBlock& half : raw.halves)
      if (!half.empty()) half[b] = torch::where(survives[b], negate ? 0 - half[b] : half[b], zero);
  }
}

/// Surviving units that share their value with another, and warnings where nothing but the tie rule decides.
void count_ties(Importance& result, const std::string& label, const ScoreUnits& units) {
  const Blocks& blocks = units.blocks();
  const PerBlock survives = surviving_heads(blocks, units.removed());
  const char* what = units.unit() == HeadUnit::query ? "heads" : "groups";
  std::vector<double> all;
  std::vector<std::string> equal_blocks;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const torch::Tensor alive = result.values[b].index({survives[b]}).contiguous();  // [H']
    const auto* first = alive.const_data_ptr<double>();
    all.insert(all.end(), first, first + alive.numel());
    if (alive.numel() > 1 && std::all_of(first, first + alive.numel(), [&](double v) { return v == *first; }))
      equal_blocks.push_back(to_string(blocks[b].id));
  }
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) {
    const bool same_before = i > 0 && all[i - 1] == all[i], same_after = i + 1 < all.size() && all[i] == all[i + 1];
    if (same_before || same_after) ++result.ties;
  }
  const char* rule = "their order is the tie rule's: kind, layer, head";
  if (all.size() > 1 && all.front() == all.back()) {
    result.warnings.push_back(
        fmt::format("score {}: all {} {} have the same value {}; {}", label, all.size(), what, all.front(), rule));
  } else {
    for (const std::string& block : equal_blocks)
      result.warnings.push_back(
          fmt::format("score {}: all {} of {} have the same value; {}", label, what, block, rule));
  }
}

/// What units have, at each of their heads; undefined tensors and empty lists stay so.
PerBlock at_heads(const PerBlock& of_units, const ScoreUnits& units) {
  PerBlock of_heads;
  for (size_t b = 0; b < of_units.size(); ++b)
    of_heads.push_back(of_units[b].defined() ? units.spread(of_units[b], b) : torch::Tensor());  // [H]
  return of_heads;
}

}  // namespace

std::vector<Importance> importance(const std::vector<ScoreRequest>& requests, const ScoreInput& input) {
  const double start = monotonic_seconds();
  const Blocks blocks = input.model.blocks();
  const PerBlock survives = surviving_heads(blocks, input.removed);
  std::vector<Importance> results(requests.size());
  const bool nothing_left = std::none_of(survives.begin(), survives.end(),
                                         [](const torch::Tensor& block) { return block.any().item<bool>(); });
  if (nothing_left) {
    for (Importance& result : results)
      for (const torch::Tensor& block : survives) result.values.push_back(torch::zeros_like(block, torch::kFloat64));
    return results;
  }

  std::vector<Running> running;
  for (const ScoreRequest& request : requests) {
    ScoreInput own = input;
    own.unit = request.method->unit();
    running.push_back({&request, request.method->needs(), own.units(), request.method->start(own, request.draw)});
  }
  const Needs needs = unite(running);
  if (needs.data) pass_over_data(running, needs, input);

  for (size_t r = 0; r < requests.size(); ++r) {
    Importance& result = results[r];
    RawScores raw = running[r].pass->finish();
    const ScoreUnits& units = running[r].units;
    check_and_turn(raw, running[r]);
    normalize(raw.values, raw.stderr_, units.blocks(), units.removed(), requests[r].method->normalize());
    for (size_t half = 0; half < 2; ++half) {
      PerBlock no_stderr;
      if (!raw.halves[half].empty())
        normalize(raw.halves[half], no_stderr, units.blocks(), units.removed(), requests[r].method->normalize());
      result.halves[half] = at_heads(raw.halves[half], units);
    }
    result.values = std::move(raw.values);
    count_ties(result, requests[r].label, units);
    result.values = at_heads(result.values, units);
    result.stderr_ = at_heads(raw.stderr_, units);
    result.n = std::move(raw.n);
    result.masks = raw.masks;
    const auto batches = static_cast<int64_t>(input.batches.size());
    if (running[r].needs.data) result.forward = batches;
    if (running[r].needs.any_gradient()) result.backward = batches;
    result.forward += raw.masks * batches + raw.batches;
    if (result.forward == 0) continue;
    result.examples = raw.batches > 0 ? raw.examples : input.examples;
    result.dur_s = monotonic_seconds() - start;  // of the pass they share
  }
  return results;
}

void normalize(PerBlock& values, PerBlock& stderrs, const Blocks& blocks, const HeadSet& removed, Normalize how) {
  const PerBlock survives = surviving_heads(blocks, removed);
  const torch::Tensor zero = torch::zeros({}, torch::kFloat64);
  double low = INFINITY, high = -INFINITY;
  for (size_t b = 0; b < blocks.size(); ++b) {
    values[b] = torch::where(survives[b], values[b], zero);      // [H]
    const torch::Tensor alive = values[b].index({survives[b]});  // [H']
    if (alive.numel() == 0) continue;
    low = std::min(low, alive.min().item<double>());
    high = std::max(high, alive.max().item<double>());
  }
  for (size_t b = 0; b < blocks.size() && how != Normalize::none; ++b) {
    const bool within_layer = how == Normalize::layer_l2;
    const double divisor = within_layer ? values[b].norm().item<double>() : high - low;
    const torch::Tensor shifted = within_layer ? values[b] : values[b] - low;  // [H]
    // A divisor of 0 means that every difference is 0 too: nothing to scale, and no 0/0.
    values[b] = torch::where(survives[b], divisor > 0 ? shifted / divisor : torch::zeros_like(shifted), zero);
    if (!stderrs.empty() && stderrs[b].defined())
      stderrs[b] = divisor > 0 ? stderrs[b] / divisor : torch::zeros_like(stderrs[b]);
  }
}

}  // namespace headprune
