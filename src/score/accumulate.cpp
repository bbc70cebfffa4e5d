#include "score/accumulate.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace headprune {
namespace {

torch::Tensor zeros(const BlockHeads& block) { return torch::zeros({block.count()}, torch::kFloat64); }

/// Moves values to where sums are kept. [B, H] float64, CPU; removed heads read 0, whatever stood there.
torch::Tensor checked_values(const torch::Tensor& values, const Batch& batch, const FiniteCheck& check) {
  TORCH_CHECK(values.dim() == 2 && values.size(0) == batch.size() && values.size(1) == check.block.count(),
              "a score gave values of another shape than [B, H]");
  const torch::Tensor wide = values.to(torch::kCPU, torch::kFloat64);
  require_finite(wide, batch, check);
  return torch::where(check.survives, wide, torch::zeros({}, torch::kFloat64));
}

}  // namespace

namespace {

/// [B] bool for half 0 or 1 of the split: whether an example's index is even, or odd. It does not depend on batches.
torch::Tensor in_half(const Batch& batch, int64_t half) {
  return torch::tensor(batch.examples, torch::kInt64).remainder(2).eq(half);  // [B]
}

}  // namespace

PerBlock surviving_heads(const Blocks& blocks, const HeadSet& removed) {
  PerBlock result;
  for (const BlockHeads& block : blocks) {
    torch::Tensor survives = torch::ones({block.count()}, torch::kBool);
    for (size_t h = 0; h < block.heads.size(); ++h) {
      if (removed.contains({block.id, block.heads[h]})) survives[static_cast<int64_t>(h)] = false;
    }
    result.push_back(survives);
  }
  return result;
}

namespace {

bool asks_from_target(const Batch& batch, Kind kind) { return kind != Kind::encoder && batch.decoder_tokens.defined(); }

}  // namespace

torch::Tensor query_mask(const Batch& batch, Kind kind) {
  return (asks_from_target(batch, kind) ? batch.decoder_present : batch.present).unsqueeze(1);  // [B, 1, T]
}

torch::Tensor query_rows(const Model& model, size_t index, const Batch& batch, QueryPositions positions) {
  const torch::Tensor rows = query_mask(batch, model.blocks()[index].id.kind);  // [B, 1, T]
  if (positions == QueryPositions::all || !model.first_position_only(index)) return rows;
  torch::Tensor first = torch::zeros_like(rows);  // [B, 1, T]
  first.select(2, 0).fill_(true);
  return first;  // [B, 1, T]
}

torch::Tensor special_mask(const Batch& batch, Kind kind) {
  if (!asks_from_target(batch, kind)) return batch.special.unsqueeze(1);  // [B, 1, T]
  torch::Tensor special = torch::zeros_like(batch.decoder_present);       // [B, T]
  special.select(1, 0).fill_(true);                                       // the start token
  return special.unsqueeze(1);                                            // [B, 1, T]
}

void require_finite(const torch::Tensor& values, const Batch& batch, const FiniteCheck& check) {
  const torch::Tensor bad = values.isfinite().logical_not().cpu().logical_and(check.survives);
  if (!bad.any().item<bool>()) return;
  const torch::Tensor first = bad.nonzero()[0];  // [2]: example, head
  const int64_t example = first[0].item<int64_t>(), head = first[1].item<int64_t>();
  fail(ExitCode::run_failed,
       "score {}: head {} comes to {} on example {} of the score split; the model overflows there: train it further or "
       "differently, or leave that example out",
       check.score, to_string(HeadId{check.block.id, check.block.heads[static_cast<size_t>(head)]}),
       values[example][head].item<double>(), batch.examples[static_cast<size_t>(example)]);
}

ExampleMean::ExampleMean(std::string score, const ScoreInput& input)
    : score_(std::move(score)),
      blocks_(input.model.blocks()),
      survives_(surviving_heads(blocks_, input.removed)),
      moments_(blocks_.size()),
      halves_(blocks_.size()) {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    moments_[b].mean = zeros(blocks_[b]), moments_[b].squares = zeros(blocks_[b]);
    for (HalfSum& half : halves_[b]) half.sum = zeros(blocks_[b]);
  }
}

void ExampleMean::add(size_t block, const torch::Tensor& values, const Batch& batch, const torch::Tensor& counted) {
  torch::Tensor rows = checked_values(values, batch, {score_, blocks_[block], survives_[block]});
  for (int64_t half = 0; half < 2; ++half) {
    torch::Tensor mine = in_half(batch, half);  // [B]
    if (counted.defined()) mine = mine.logical_and(counted.cpu());
    HalfSum& sum = halves_[block][static_cast<size_t>(half)];
    sum.n += mine.sum().item<int64_t>();
    sum.sum = sum.sum + rows.index({mine}).sum(0);  // [H]
  }
  if (counted.defined()) rows = rows.index({counted.cpu()});  // [B', H]
  const int64_t n = rows.size(0);
  if (n == 0) return;
  Moments& all = moments_[block];
  const torch::Tensor mean = rows.mean(0);                      // [H]
  const torch::Tensor squares = (rows - mean).square().sum(0);  // [H]
  const torch::Tensor delta = mean - all.mean;
  const auto before = static_cast<double>(all.n), more = static_cast<double>(n);
  all.mean = all.mean + delta * (more / (before + more));
  all.squares = all.squares + squares + delta.square() * (before * more / (before + more));
  all.n += n;
}

RawScores ExampleMean::finish() const {
  RawScores raw;
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const Moments& all = moments_[b];
    raw.n.push_back(all.n);
    raw.values.push_back(all.mean);
    const auto n = static_cast<double>(all.n);
    const bool known = all.n > 1 || blocks_[b].heads.empty();
    raw.stderr_.push_back(known ? (all.squares / std::max(1.0, n * (n - 1))).sqrt() : torch::Tensor());
  }
  if (std::all_of(raw.n.begin(), raw.n.end(), [](int64_t n) { return n < 2; })) raw.stderr_.clear();
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (moments_[b].n > 0 || !survives_[b].any().item<bool>()) continue;
    fail(ExitCode::run_failed,
         "score {}: no example of the score split has a position that it counts in {}; give it longer examples, count "
         "other positions, or drop this score",
         score_, to_string(blocks_[b].id));
  }
  // A block in which one half counted no example has no value there, and a ranking without it is another ranking.
  bool both = true;
  for (size_t b = 0; b < blocks_.size(); ++b)
    both = both && (!survives_[b].any().item<bool>() || (halves_[b][0].n > 0 && halves_[b][1].n > 0));
  for (size_t half = 0; half < 2 && both; ++half)
    for (const auto& sums : halves_)
      raw.halves[half].push_back(sums[half].n > 0 ? sums[half].sum / static_cast<double>(sums[half].n)
                                                  : torch::zeros_like(sums[half].sum));
  return raw;
}

ExampleRatio::ExampleRatio(std::string score, const ScoreInput& input)
    : score_(std::move(score)),
      blocks_(input.model.blocks()),
      survives_(surviving_heads(blocks_, input.removed)),
      sums_(blocks_.size()) {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    Sums& sums = sums_[b];
    sums.y = zeros(blocks_[b]), sums.yy = zeros(blocks_[b]), sums.yn = zeros(blocks_[b]);
    for (torch::Tensor& half : sums.half_y) half = zeros(blocks_[b]);
  }
}

void ExampleRatio::add(size_t block, const torch::Tensor& values, const torch::Tensor& counts, const Batch& batch) {
  const torch::Tensor y = checked_values(values, batch, {score_, blocks_[block], survives_[block]});  // [B, H]
  const torch::Tensor n = counts.to(torch::kCPU, torch::kFloat64);                                    // [B]
  Sums& sums = sums_[block];
  sums.examples += batch.size();
  sums.n += n.sum().item<double>();
  sums.nn += n.square().sum().item<double>();
  sums.y = sums.y + y.sum(0);
  sums.yy = sums.yy + y.square().sum(0);
  sums.yn = sums.yn + (y * n.unsqueeze(1)).sum(0);
  for (size_t half = 0; half < 2; ++half) {
    const torch::Tensor mine = in_half(batch, static_cast<int64_t>(half));  // [B]
    sums.half_y[half] = sums.half_y[half] + y.index({mine}).sum(0);         // [H]
    sums.half_n[half] += n.index({mine}).sum().item<double>();
  }
}

RawScores ExampleRatio::finish() const {
  RawScores raw;
  int64_t most = 0;
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const Sums& sums = sums_[b];
    raw.n.push_back(sums.examples);
    most = std::max(most, sums.examples);
    // A block through which no gradient flows, one without heads for example, has importance 0.
    const torch::Tensor ratio = sums.n > 0 ? sums.y / sums.n : zeros(blocks_[b]);  // [H]
    raw.values.push_back(ratio);
    const auto n = static_cast<double>(sums.examples);
    const torch::Tensor residual = sums.yy - 2 * ratio * sums.yn + ratio.square() * sums.nn;  // sum (y - ratio n)^2
    raw.stderr_.push_back(sums.n > 0 && n > 1 ? (residual.clamp_min(0) * (n / (n - 1))).sqrt() / sums.n
                                              : zeros(blocks_[b]));
  }
  // A block without heads sees no example; all others see the same.
  if (most < 2) raw.stderr_.clear();
  if (most > 1)
    for (size_t half = 0; half < 2; ++half)
      for (const Sums& sums : sums_)
        raw.halves[half].push_back(sums.half_n[half] > 0 ? sums.half_y[half] / sums.half_n[half]
                                                         : torch::zeros_like(sums.half_y[half]));
  return raw;
}

}  // namespace headprune
