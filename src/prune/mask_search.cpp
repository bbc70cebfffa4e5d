// Post-training search for a mask (Kwon et al. 2022): heads by their diagonal Fisher information, rearranged within
// each block by its block Fisher information, survivors scaled so that each block gives what it gave.
#include <algorithm>

#include "prune/block_fisher.h"
#include "prune/learned.h"
#include "prune/scale_tuning.h"

namespace headprune {
namespace {

enum class SearchStage { search, rearrange, tune };

}  // namespace
template <>
struct EnumNames<SearchStage> {
  static constexpr std::pair<const char*, SearchStage> names[] = {
      {"search", SearchStage::search}, {"rearrange", SearchStage::rearrange}, {"tune", SearchStage::tune}};
};

namespace {

class MaskSearch final : public PruneRule {
 public:
  struct Options : RemovalOptions {
    std::vector<double> fractions = {0.25, 0.5, 0.75};
    std::vector<SearchStage> stages = {SearchStage::search, SearchStage::rearrange, SearchStage::tune};
    double damp = 1;
    KeepModels keep_weights = KeepModels::none;

    template <class V>
    void fields(V& v) {
      v("fractions", fractions, "fractions of the heads to remove, a point for each stage each", not_empty,
        between(0, 1));
      v("stages", stages,
        "search: the heads with the least diagonal Fisher information go; rearrange: as many of each block, by its "
        "block "
        "Fisher information; tune: the survivors of the last of these are scaled. A point is made of each stage named",
        not_empty);
      v("damp", damp, "how strongly scales are held to 1: damp^2 |s - 1|^2 is added to the squared error", at_least(0));
      v("keep_weights", keep_weights, "whether tuned models stay in the run folder, for `export`: none or all");
      RemovalOptions::fields(v);
    }
    CrossProblems problems() const {
      CrossProblems found;
      for (size_t i = 1; i < stages.size(); ++i)
        if (stages[i] <= stages[i - 1]) found.emplace_back("stages", "are search, rearrange, tune, in this order");
      if (keep_weights != KeepModels::none && !has(SearchStage::tune))
        found.emplace_back("keep_weights",
                           "without the stage tune every point has the model's own weights: leave it out");
      return found;
    }
    bool has(SearchStage stage) const { return std::find(stages.begin(), stages.end(), stage) != stages.end(); }
  };
  explicit MaskSearch(Options options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    const RankedUnits units = options_.units(input.blocks);
    RulePlan plan;
    const OrderLimits limits = options_.limits(units, fixed_heads(options_, input, plan));
    const TargetList list = removal_targets(options_.fractions, units.blocks(), limits);
    plan.add(list.messages);
    Unit& unit = plan.units.emplace_back();
    unit.name = input.rule;
    unit.scorings = 1;
    for (const SearchStage stage : options_.stages)
      for (const RemovalTarget& target : list.targets) {
        PlannedPoint point = sweep_point(input, limits, std::ssize(unit.points), target.heads);
        point.spec.method = input.rule + (stage == SearchStage::search ? "" : std::string("_") + enum_name(stage));
        if (stage == SearchStage::tune && target.heads > 0) {
          point.fine_tuned = true;
          point.keep_weights = options_.keep_weights == KeepModels::all;
          unit.score_masks += 2 * std::ssize(input.blocks);
        }
        unit.points.push_back(std::move(point));
      }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    const RankedUnits units = options_.units(model.blocks());
    const HeadSet none;
    const ScoreInput input = host.score_input(model, none, options_.head_unit());
    const PerBlock gradients = gate_gradients(input);
    PerBlock fisher;
    for (const torch::Tensor& of_block : gradients)
      fisher.push_back(of_block.defined() ? of_block.square().mean(0) : torch::zeros({0}, torch::kFloat64));  // [U]
    const OrderLimits limits = options_.limits(units, unit.points.front().fixed);
    const std::vector<HeadId> order = ascending_order(units.blocks(), fisher, {}, limits.kinds);
    const std::vector<RemovalTarget> targets = removal_targets(options_.fractions, units.blocks(), limits).targets;
    const auto batches = static_cast<int64_t>(input.batches.size());

    std::vector<HeadSet> masks;  // of units, after the last stage that was done
    for (const RemovalTarget& target : targets)
      masks.push_back(choose_heads(order, units.blocks(), limits, target, {}));
    size_t next = 0;
    for (const SearchStage stage : options_.stages)
      for (HeadSet& mask : masks) {
        PlannedPoint point = unit.points[next++];
        if (stage == SearchStage::rearrange) mask = rearranged_units(units, gradients, {limits.fixed, mask});
        point.removed = units.heads(mask);
        point.forward = point.backward = point.removed.empty() ? 0 : batches;
        if (point.fine_tuned)
          tune(point, input, host);
        else
          host.evaluate(model, point);
      }
  }

 private:
  struct Moved {
    const HeadSet& fixed;
    const HeadSet& removed;
  };

  static HeadSet rearranged_units(const RankedUnits& units, const PerBlock& gradients, const Moved& moved) {
    HeadSet changed;
    for (size_t b = 0; b < units.blocks().size(); ++b) {
      const BlockHeads& block = units.blocks()[b];
      const std::vector<int64_t> gone = moved.removed.in_block(block.id);
      if (gone.empty()) continue;
      std::vector<int64_t> places;
      std::vector<bool> fixed;
      for (int64_t u = 0; u < block.count(); ++u) {
        const int64_t id = block.heads[static_cast<size_t>(u)];
        fixed.push_back(moved.fixed.contains({block.id, id}));
        if (std::find(gone.begin(), gone.end(), id) != gone.end()) places.push_back(u);
      }
      for (const int64_t place : rearranged(gradients[b], places, fixed))
        changed.insert({block.id, block.heads[static_cast<size_t>(place)]});
    }
    return changed;
  }

  void tune(PlannedPoint& point, const ScoreInput& input, RuleHost& host) const {
    if (host.done(point.spec)) return;
    const TunedScales tuned = tuned_scales(input, point.removed, options_.damp);
    point.forward += tuned.forward;
    if (!tuned.stopped.empty())
      host.warn("scales_not_believed", fmt::format("{}: a scale of {} is above {}, so from there on scales stay 1",
                                                   point.spec.method, tuned.stopped, kMostScale));
    const GateUnits heads(GateOptions(), input.model.blocks());
    std::vector<torch::Tensor> scales;
    for (const torch::Tensor& of_block : tuned.scales)
      if (of_block.defined()) scales.push_back(of_block);
    host.record(learned_heads(heads, fmt::format("{}.removed_{}", point.spec.method, point.spec.heads_removed),
                              {{"scale", torch::cat(scales)}}));
    const std::shared_ptr<Model> own = input.model.copy();
    fold_scales(*own, tuned.scales);
    host.evaluate(*own, point);
  }

  Options options_;
};

const Register<PruneRule, MaskSearch> register_mask_search{
    "mask_search", "a mask by Fisher information, rearranged within blocks, survivors scaled (Kwon et al. 2022)"};

}  // namespace
}  // namespace headprune
