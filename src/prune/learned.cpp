#include "prune/learned.h"

#include <algorithm>

namespace headprune {

CrossProblems LearnedOptions::problems() const {
  if (keep_weights == KeepLearned::none || train_weights) return {};
  return {{"keep_weights", "without train_weights every point has the model's own weights: leave it out"}};
}

GateUnits::GateUnits(const GateOptions& options, const Blocks& heads)
    : heads_(heads),
      units_(options.units(heads)),
      limits_(options.limits(units_)),
      unit_(options.unit.value_or(HeadUnit::query)) {
  count_heads(units_.blocks(), limits_.kinds);  // refuses kinds that the model has no heads of
  for (const HeadId& id : all_heads(units_.blocks()))
    if (may_go(id.block, limits_.kinds)) ids_.push_back(id);
}

PerBlock GateUnits::of_blocks(const torch::Tensor& of_units) const {
  PerBlock values;
  int64_t next = 0;
  for (const BlockHeads& block : units_.blocks()) {
    torch::Tensor& of_block = values.emplace_back();
    if (!may_go(block.id, limits_.kinds)) continue;
    of_block = of_units.slice(0, next, next + block.count());  // [units of the block]
    next += block.count();
  }
  return values;
}

PerBlock GateUnits::of_heads(const torch::Tensor& of_units) const {
  PerBlock values = of_blocks(of_units);
  if (unit_ == HeadUnit::query) return values;
  for (size_t b = 0; b < values.size(); ++b) {
    if (!values[b].defined()) continue;
    const std::vector<int64_t>& groups = units_.blocks()[b].heads;
    std::vector<int64_t> places;
    for (const int64_t head : heads_[b].heads)
      places.push_back(std::lower_bound(groups.begin(), groups.end(), heads_[b].group_of(head)) - groups.begin());
    values[b] = values[b].index_select(0, torch::tensor(places, torch::kInt64));  // [H]
  }
  return values;
}

HeadSet GateUnits::heads_at(const torch::Tensor& gone) const {
  HeadSet units;
  for (size_t i = 0; i < ids_.size(); ++i)
    if (gone[static_cast<int64_t>(i)].item<bool>()) units.insert(ids_[i]);
  return units_.heads(units);
}

LearnedHeads learned_heads(const GateUnits& units, const std::string& name, const std::vector<UnitColumn>& columns) {
  LearnedHeads found;
  found.done.analysis = name;
  std::vector<PerBlock> values;
  for (const UnitColumn& column : columns) values.push_back(units.of_heads(column.values.detach().to(torch::kFloat64)));
  for (size_t b = 0; b < units.heads().size(); ++b) {
    const BlockHeads& block = units.heads()[b];
    AnalysisBlock row{.seed = 0, .analysis = name, .block = block.id, .heads = block.heads, .columns = {}};
    for (size_t c = 0; c < columns.size(); ++c) {
      if (!values[c][b].defined()) continue;
      const torch::Tensor of_block = values[c][b].contiguous();
      const auto* const data = of_block.const_data_ptr<double>();
      row.columns.push_back(
          {.name = columns[c].name, .values = {data, data + of_block.numel()}, .stderrs = {}, .baseline = {}});
    }
    found.blocks.push_back(std::move(row));
  }
  return found;
}

}  // namespace headprune
