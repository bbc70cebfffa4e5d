#include "prune/learned.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headprune {

CrossProblems LearnedOptions::problems() const {
  if (keep_weights == KeepModels::none || train_weights) return {};
  return {{"keep_weights", "without train_weights every point has the model's own weights: leave it out"}};
}

void LearnedOptions::plan_training(Unit& its, PlannedPoint& point) const {
  its.train_steps = steps;
  point.fine_tuned = train_weights;
  point.keep_weights = keep_weights == KeepModels::all;
}

void learn_point(const GatePoint& at, const LearnedOptions& options, GateSource& source,
                 const std::function<void(PlannedPoint&)>& settle) {
  const std::shared_ptr<Model> own = options.train_weights ? at.model.copy() : nullptr;
  Model& trained = own ? *own : at.model;
  PlannedPoint point = at.unit.points.front();
  std::tie(point.forward, point.backward) = at.host.learn_gates(
      trained,
      {.name = at.name(), .steps = options.steps, .gates = {&source, options.learning_rate, options.train_weights}});
  settle(point);
  at.host.evaluate(trained, point);
}

GateUnits::GateUnits(const GateOptions& options, const Blocks& heads, const HeadSet& fixed)
    : heads_(heads),
      units_(options.units(heads)),
      limits_(options.limits(units_, fixed)),
      ids_(eligible_units(units_.blocks(), limits_)) {
  count_eligible(units_.blocks(), limits_);  // refuses options that leave nothing
  const auto place_of = [&](const BlockId& block, int64_t unit) {
    return std::find(ids_.begin(), ids_.end(), HeadId{block, unit}) - ids_.begin();
  };
  for (size_t b = 0; b < heads_.size(); ++b) {
    std::vector<int64_t> of_units, of_heads;
    for (const int64_t unit : units_.blocks()[b].heads) of_units.push_back(place_of(heads_[b].id, unit));
    for (const int64_t head : heads_[b].heads)
      of_heads.push_back(place_of(heads_[b].id, limits_.unit == HeadUnit::group ? heads_[b].group_of(head) : head));
    unit_places_.push_back(torch::tensor(of_units, torch::kInt64));
    const bool gated = std::any_of(of_heads.begin(), of_heads.end(), [&](int64_t place) { return place < count(); });
    head_places_.push_back(gated ? torch::tensor(of_heads, torch::kInt64) : torch::Tensor());
  }
}

PerBlock GateUnits::of_blocks(const torch::Tensor& of_units) const {
  const torch::Tensor all = torch::cat({of_units, torch::zeros({1}, of_units.options())});  // [U + 1]
  PerBlock values;
  for (const torch::Tensor& places : unit_places_)
    values.push_back(all.index_select(0, places));  // [units of the block]
  return values;
}

PerBlock GateUnits::of_heads(const torch::Tensor& of_units, double elsewhere) const {
  const torch::Tensor all = torch::cat({of_units, torch::full({1}, elsewhere, of_units.options())});  // [U + 1]
  PerBlock values;
  for (const torch::Tensor& places : head_places_)
    values.push_back(places.defined() ? all.index_select(0, places) : torch::Tensor());  // [H]
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
