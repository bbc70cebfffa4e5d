#include "prune/learned.h"

#include <algorithm>
#include <cmath>

namespace headprune {

CrossProblems LearnedOptions::problems() const {
  if (keep_weights == KeepLearned::none || train_weights) return {};
  return {{"keep_weights", "without train_weights every point has the model's own weights: leave it out"}};
}

GateUnits::GateUnits(const GateOptions& options, const Blocks& heads, const HeadSet& fixed)
    : heads_(heads),
      units_(options.units(heads)),
      limits_(options.limits(units_, fixed)),
      unit_(options.unit.value_or(HeadUnit::query)) {
  count_eligible(units_.blocks(), limits_);  // refuses options that leave nothing
  for (const HeadId& id : all_heads(units_.blocks()))
    if (may_go(id.block, limits_.kinds) && !limits_.fixed.contains(id)) ids_.push_back(id);
}

/// Where each head (or unit) of a block stands in the vector of gates; behind its end where there is no gate.
torch::Tensor GateUnits::places(const BlockHeads& block, bool of_heads) const {
  std::vector<int64_t> found;
  for (const int64_t head : block.heads) {
    const int64_t unit = of_heads && unit_ == HeadUnit::group ? block.group_of(head) : head;
    found.push_back(std::find(ids_.begin(), ids_.end(), HeadId{block.id, unit}) - ids_.begin());
  }
  return torch::tensor(found, torch::kInt64);
}

PerBlock GateUnits::of_blocks(const torch::Tensor& of_units) const {
  const torch::Tensor all = torch::cat({of_units, torch::zeros({1}, of_units.options())});  // [U + 1]
  PerBlock values;
  for (const BlockHeads& block : units_.blocks())
    values.push_back(all.index_select(0, places(block, /*of_heads=*/false)));  // [units of the block]
  return values;
}

PerBlock GateUnits::of_heads(const torch::Tensor& of_units, double elsewhere) const {
  const torch::Tensor all = torch::cat({of_units, torch::full({1}, elsewhere, of_units.options())});  // [U + 1]
  PerBlock values;
  for (const BlockHeads& block : heads_) {
    const torch::Tensor found = places(block, /*of_heads=*/true);
    const bool some = (found < count()).any().item<bool>();
    values.push_back(some ? all.index_select(0, found) : torch::Tensor());  // [H]
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
  for (const UnitColumn& column : columns)
    values.push_back(units.of_heads(column.values.detach().to(torch::kFloat64), std::nan("")));
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
