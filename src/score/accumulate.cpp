#include "score/accumulate.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "model/pattern.h"

namespace headprune {
namespace {

torch::Tensor zeros(const BlockHeads& block) { return torch::zeros({block.count()}, torch::kFloat64); }

/// Moves values to where sums are kept. [B, U] float64, CPU; removed units read 0, whatever stood there.
torch::Tensor checked_values(const torch::Tensor& values, const Batch& batch, const FiniteCheck& check) {
  TORCH_CHECK(values.dim() == 2 && values.size(0) == batch.size() && values.size(1) == check.block.count(),
              "a score gave values of another shape than [B, U]");
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

ScoreUnits::ScoreUnits(const Blocks& heads, const HeadSet& removed, HeadUnit unit)
    : unit_(unit),
      heads_(heads),
      blocks_(in_units(heads, unit)),
      removed_(units_without(removed, heads, unit)),
      survives_(surviving_heads(heads, removed)) {
  for (size_t b = 0; b < heads_.size(); ++b) {
    std::vector<int64_t> unit_of;
    for (const int64_t head : heads_[b].heads) {
      const std::vector<int64_t>& all = blocks_[b].heads;
      const int64_t id = unit == HeadUnit::query ? head : heads_[b].group_of(head);
      unit_of.push_back(std::lower_bound(all.begin(), all.end(), id) - all.begin());
    }
    unit_of_.push_back(torch::tensor(unit_of, torch::kInt64));  // [H]
  }
}

torch::Tensor ScoreUnits::sum(const torch::Tensor& of_heads, size_t block) const {
  if (unit_ == HeadUnit::query) return of_heads;
  const int64_t axis = of_heads.dim() == 1 ? 0 : 1;
  std::vector<int64_t> along(static_cast<size_t>(of_heads.dim()), 1), shape = of_heads.sizes().vec();
  along[static_cast<size_t>(axis)] = -1;
  shape[static_cast<size_t>(axis)] = blocks_[block].count();
  const torch::Tensor survives = survives_[block].to(of_heads.device()).view(along);  // [H] or [1, H, 1, ...]
  const torch::Tensor kept = torch::where(survives, of_heads, torch::zeros({}, of_heads.options()));
  return torch::zeros(shape, of_heads.options())
      .index_add(axis, unit_of_[block].to(of_heads.device()), kept);  // [U] or [B, U, ...]
}

torch::Tensor ScoreUnits::sum(const torch::Tensor& own, const torch::Tensor& of_groups, size_t block) const {
  const bool counts = unit_ == HeadUnit::group || heads_[block].heads_per_group == 1;
  return counts ? sum(own, block) + of_groups : sum(own, block);  // [U]
}

torch::Tensor ScoreUnits::mean(const torch::Tensor& of_heads, size_t block) const {
  if (unit_ == HeadUnit::query) return of_heads;
  const torch::Tensor sums = sum(of_heads, block);
  std::vector<int64_t> along(static_cast<size_t>(sums.dim()), 1);
  along[sums.dim() == 1 ? 0 : 1] = -1;
  const torch::Tensor counts = sum(torch::ones({heads_[block].count()}, sums.options()), block);  // [U]
  return sums / counts.clamp_min(1).view(along);
}

torch::Tensor ScoreUnits::spread(const torch::Tensor& of_units, size_t block) const {
  const torch::Tensor of_heads = of_units.index_select(0, unit_of_[block]);  // [H]
  return torch::where(survives_[block], of_heads, torch::zeros({}, of_heads.options()));
}

std::vector<int64_t> ScoreUnits::places(size_t block, size_t index) const {
  std::vector<int64_t> all;
  for (int64_t h = 0; h < heads_[block].count(); ++h)
    if (unit_of_[block][h].item<int64_t>() == static_cast<int64_t>(index)) all.push_back(h);
  return all;
}

namespace {

bool asks_from_target(const Batch& batch, Kind kind) { return kind != Kind::encoder && batch.decoder_tokens.defined(); }

}  // namespace

torch::Tensor query_mask(const Batch& batch, Kind kind) {
  return (asks_from_target(batch, kind) ? batch.decoder_present : batch.present).unsqueeze(1);  // [B, 1, T]
}

std::string note_of(QueryPositions positions, HeadUnit unit) {
  return fmt::format("positions: {}{}", enum_name(positions), unit == HeadUnit::group ? ", unit: group" : "");
}

torch::Tensor query_rows(const Model& model, size_t index, const Batch& batch, QueryPositions positions) {
  const torch::Tensor rows = query_mask(batch, model.blocks()[index].id.kind);  // [B, 1, T]
  if (positions == QueryPositions::all || !model.first_position_only(index)) return rows;
  torch::Tensor first = torch::zeros_like(rows);  // [B, 1, T]
  first.select(2, 0).fill_(true);
  return first;  // [B, 1, T]
}

torch::Tensor visible_keys(const Model& model, size_t index, const Batch& batch) {
  const Kind kind = model.blocks()[index].id.kind;
  const torch::Tensor queries = query_mask(batch, kind);  // [B, 1, T]
  // The encoder's positions are the keys of its own blocks and of the decoder's encoder-decoder attention.
  const torch::Tensor present = kind == Kind::decoder ? queries.squeeze(1) : batch.present;  // [B, S]
  const std::shared_ptr<const Pattern> pattern = model.pattern(index);
  const Visibility visibility(pattern ? pattern : full_pattern(), present);
  const Extent extent{.queries = queries.size(2), .keys = present.size(1), .offset = 0};
  return visibility.mask(extent, present.device(), model.blocks()[index].heads)
      .expand({-1, -1, extent.queries, -1});  // [B, H or 1, T, S]
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
  const torch::Tensor first = bad.nonzero()[0];  // [2]: example, unit
  const int64_t example = first[0].item<int64_t>(), at = first[1].item<int64_t>();
  fail(ExitCode::run_failed,
       "score {}: {} comes to {} on example {} of the score split; the model overflows there: train it further or "
       "differently, or leave that example out",
       check.score, unit_text({check.block.id, check.block.heads[static_cast<size_t>(at)]}, check.unit),
       values[example][at].item<double>(), batch.examples[static_cast<size_t>(example)]);
}

ExampleMean::ExampleMean(std::string score, const ScoreInput& input)
    : score_(std::move(score)),
      units_(input.units()),
      survives_(surviving_heads(units_.blocks(), units_.removed())),
      moments_(units_.blocks().size()),
      halves_(units_.blocks().size()) {
  for (size_t b = 0; b < units_.blocks().size(); ++b) {
    moments_[b].mean = zeros(units_.blocks()[b]), moments_[b].squares = zeros(units_.blocks()[b]);
    for (HalfSum& half : halves_[b]) half.sum = zeros(units_.blocks()[b]);
  }
}

void ExampleMean::add(size_t block, const torch::Tensor& values, const Batch& batch, const torch::Tensor& counted) {
  torch::Tensor rows = checked_values(values, batch, {score_, units_.blocks()[block], survives_[block], units_.unit()});
  for (int64_t half = 0; half < 2; ++half) {
    torch::Tensor mine = in_half(batch, half);  // [B]
    if (counted.defined()) mine = mine.logical_and(counted.cpu());
    HalfSum& sum = halves_[block][static_cast<size_t>(half)];
    sum.n += mine.sum().item<int64_t>();
    sum.sum = sum.sum + rows.index({mine}).sum(0);  // [U]
  }
  if (counted.defined()) rows = rows.index({counted.cpu()});  // [B', U]
  const int64_t n = rows.size(0);
  if (n == 0) return;
  Moments& all = moments_[block];
  const torch::Tensor mean = rows.mean(0);                      // [U]
  const torch::Tensor squares = (rows - mean).square().sum(0);  // [U]
  const torch::Tensor delta = mean - all.mean;
  const auto before = static_cast<double>(all.n), more = static_cast<double>(n);
  all.mean = all.mean + delta * (more / (before + more));
  all.squares = all.squares + squares + delta.square() * (before * more / (before + more));
  all.n += n;
}

RawScores ExampleMean::finish() const {
  RawScores raw;
  for (size_t b = 0; b < units_.blocks().size(); ++b) {
    const Moments& all = moments_[b];
    raw.n.push_back(all.n);
    raw.values.push_back(all.mean);
    const auto n = static_cast<double>(all.n);
    const bool known = all.n > 1 || units_.blocks()[b].heads.empty();
    raw.stderr_.push_back(known ? (all.squares / std::max(1.0, n * (n - 1))).sqrt() : torch::Tensor());
  }
  if (std::all_of(raw.n.begin(), raw.n.end(), [](int64_t n) { return n < 2; })) raw.stderr_.clear();
  for (size_t b = 0; b < units_.blocks().size(); ++b) {
    if (moments_[b].n > 0 || !survives_[b].any().item<bool>()) continue;
    fail(ExitCode::run_failed,
         "score {}: no example of the score split has a position that it counts in {}; give it longer examples, count "
         "other positions, or drop this score",
         score_, to_string(units_.blocks()[b].id));
  }
  // A block in which one half counted no example has no value there, and a ranking without it is another ranking.
  bool both = true;
  for (size_t b = 0; b < units_.blocks().size(); ++b)
    both = both && (!survives_[b].any().item<bool>() || (halves_[b][0].n > 0 && halves_[b][1].n > 0));
  for (size_t half = 0; half < 2 && both; ++half)
    for (const auto& sums : halves_)
      raw.halves[half].push_back(sums[half].n > 0 ? sums[half].sum / static_cast<double>(sums[half].n)
                                                  : torch::zeros_like(sums[half].sum));
  return raw;
}

RatioSums::RatioSums(int64_t units)
    : y(torch::zeros({units}, torch::kFloat64)), yy(torch::zeros_like(y)), yn(torch::zeros_like(y)) {}

void RatioSums::add(const torch::Tensor& values, const torch::Tensor& counts) {
  examples += counts.size(0);
  const torch::Tensor of_counts = counts.sum(0), of_squares = counts.square().sum(0);  // [1] or [U]
  n = n.defined() ? n + of_counts : of_counts;
  nn = nn.defined() ? nn + of_squares : of_squares;
  y = y + values.sum(0);
  yy = yy + values.square().sum(0);
  yn = yn + (values * counts).sum(0);
}

torch::Tensor RatioSums::ratio() const {
  if (!n.defined()) return torch::zeros_like(y);
  return torch::where(n > 0, y / n, torch::zeros_like(y));  // [U]
}

torch::Tensor RatioSums::standard_error() const {
  if (!n.defined() || examples < 2) return torch::zeros_like(y);
  const torch::Tensor value = ratio();                                       // [U]
  const torch::Tensor residual = yy - 2 * value * yn + value.square() * nn;  // sum (y - ratio n)^2
  const auto all = static_cast<double>(examples);
  return torch::where(n > 0, (residual.clamp_min(0) * (all / (all - 1))).sqrt() / n, torch::zeros_like(y));  // [U]
}

ExampleRatio::Sums::Sums(int64_t units) : RatioSums(units) {
  for (torch::Tensor& half : half_y) half = torch::zeros({units}, torch::kFloat64);
}

ExampleRatio::ExampleRatio(std::string score, const ScoreInput& input)
    : score_(std::move(score)), units_(input.units()), survives_(surviving_heads(units_.blocks(), units_.removed())) {
  for (const BlockHeads& block : units_.blocks()) sums_.emplace_back(block.count());
}

void ExampleRatio::add(size_t block, const torch::Tensor& values, const torch::Tensor& counts, const Batch& batch) {
  const torch::Tensor y =
      checked_values(values, batch, {score_, units_.blocks()[block], survives_[block], units_.unit()});  // [B, U]
  const torch::Tensor n = counts.to(torch::kCPU, torch::kFloat64);                                       // [B]
  Sums& sums = sums_[block];
  sums.add(y, n.unsqueeze(1));
  for (size_t half = 0; half < 2; ++half) {
    const torch::Tensor mine = in_half(batch, static_cast<int64_t>(half));  // [B]
    sums.half_y[half] = sums.half_y[half] + y.index({mine}).sum(0);         // [U]
    sums.half_n[half] += n.index({mine}).sum().item<double>();
  }
}

RawScores ExampleRatio::finish() const {
  RawScores raw;
  int64_t most = 0;
  for (size_t b = 0; b < units_.blocks().size(); ++b) {
    const Sums& sums = sums_[b];
    raw.n.push_back(sums.examples);
    most = std::max(most, sums.examples);
    // A block through which no gradient flows, one without heads for example, has importance 0.
    raw.values.push_back(sums.ratio());
    raw.stderr_.push_back(sums.standard_error());
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
