// Growing fractions of one block's heads (layer_curve) or of one attention kind's (kind_curve), the others intact.
#include <algorithm>

#include "prune/ranking.h"
#include "prune/sensitivity.h"

namespace headprune {
namespace {

/// Blocks whose heads one curve removes, and their places in the model. Those without heads are left out.
struct CurveBlocks {
  Blocks blocks;
  std::vector<size_t> places;

  bool has(const PointSpec& spec) const {
    const BlockId& id = blocks.front().id;
    return to_string(id.kind) == spec.kind && (!spec.layer || id.layer == *spec.layer);
  }
};

class UnitCurve final : public PruneRule {
 public:
  UnitCurve(Table table, SensitivityOptions options)
      : table_(table),
        options_(std::move(options)),
        numbers_{options_.fractions, options_.heads.value_or(std::vector<int64_t>())},
        unit_(options_.head_unit()) {}

  std::vector<std::string> methods() const override { return options_.methods; }

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const HeadSet fixed = fixed_heads(options_, input, plan);
    for (const RankedBy& by : curves_of(input.methods))
      for (const CurveBlocks& curve : split(without_fixed(input.blocks, fixed, unit_))) {
        const BlockId& id = curve.blocks.front().id;
        Unit& unit = plan.units.emplace_back();
        unit.name = fmt::format("{}, {}", table_ == Table::layer_curve ? to_string(id) : to_string(id.kind),
                                curve_name(by, input.methods));
        const RankedUnits units(curve.blocks, unit_);
        TargetList list = numbered_targets(numbers_, units.blocks(), units.limits({}));
        for (const RemovalTarget& target : list.targets) {
          PlannedPoint point = curve_point(input.seed, curve, target.heads * units.heads_per_unit());
          point.spec.method = by.method;
          point.spec.draw = by.draw;
          point.step = std::ssize(unit.points);
          point.fixed = fixed;
          unit.points.push_back(std::move(point));
        }
        for (const std::string& message : list.messages)
          if (std::find(plan.messages.begin(), plan.messages.end(), message) == plan.messages.end())
            plan.messages.push_back(message);
      }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    const Importance scores = host.intact_scores(ranked_by(unit));
    const Blocks whole = model.blocks();
    const std::vector<CurveBlocks> curves = split(without_fixed(whole, unit.points.front().fixed, unit_));
    const auto found = std::find_if(curves.begin(), curves.end(),
                                    [&](const CurveBlocks& one) { return one.has(unit.points.front().spec); });
    if (found == curves.end()) throw std::logic_error("a curve of another model");
    PerBlock values;
    for (size_t i = 0; i < found->places.size(); ++i)
      values.push_back(values_of(found->blocks[i], whole[found->places[i]], scores.values[found->places[i]]));
    const RankedUnits units(found->blocks, unit_);
    const OrderLimits limits = units.limits({});
    const std::vector<HeadId> order = ascending_order(units.blocks(), units.values(values), {}, {});
    const std::vector<RemovalTarget> targets = numbered_targets(numbers_, units.blocks(), limits).targets;
    for (size_t i = 0; i < targets.size(); ++i) {
      PlannedPoint point = unit.points[i];
      point.removed = units.heads(choose_heads(order, units.blocks(), limits, targets[i], {}));
      if (targets[i].heads > 0) point.forward = scores.forward, point.backward = scores.backward;
      host.evaluate(model, point);
    }
  }

 private:
  std::vector<CurveBlocks> split(const Blocks& blocks) const {
    std::vector<CurveBlocks> curves;
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].heads.empty()) continue;
      const bool joins =
          table_ == Table::kind_curve && !curves.empty() && curves.back().blocks.front().id.kind == blocks[b].id.kind;
      if (!joins) curves.emplace_back();
      curves.back().blocks.push_back(blocks[b]);
      curves.back().places.push_back(b);
    }
    return curves;
  }

  PlannedPoint curve_point(int64_t seed, const CurveBlocks& curve, int64_t heads_removed) const {
    PlannedPoint point = block_point(table_, seed, curve.blocks.front(), heads_removed);
    if (table_ == Table::layer_curve) return point;
    point.spec.layer.reset();
    point.heads_total = std::ssize(all_heads(curve.blocks));
    point.fraction = static_cast<double>(heads_removed) / static_cast<double>(point.heads_total);
    return point;
  }

  /// Of a whole block's values those of the heads that are there.
  static torch::Tensor values_of(const BlockHeads& some, const BlockHeads& whole, const torch::Tensor& values) {
    std::vector<int64_t> places;
    for (const int64_t head : some.heads)
      places.push_back(std::find(whole.heads.begin(), whole.heads.end(), head) - whole.heads.begin());
    return values.index_select(0, torch::tensor(places, torch::kInt64));
  }

  Table table_;
  SensitivityOptions options_;
  RemovalNumbers numbers_;
  HeadUnit unit_;
};

}  // namespace

std::shared_ptr<const PruneRule> unit_curve(Table table, const SensitivityOptions& options) {
  return std::make_shared<UnitCurve>(table, options);
}

}  // namespace headprune
