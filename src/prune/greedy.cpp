// At each step the head whose removal costs least on the select split goes; or, forwards, to a model without heads the
// one that helps most comes back. With `width` so many sets are followed at once and the best one is the point (beam
// search). The points are on the report split, so what was chosen by chance on the select split does not count there.
#include <algorithm>

#include "prune/ranking.h"

namespace headprune {
namespace {

enum class Direction { remove, add };

}  // namespace
template <>
struct EnumNames<Direction> {
  static constexpr std::pair<const char*, Direction> names[] = {{"remove", Direction::remove}, {"add", Direction::add}};
};

namespace {

class Greedy final : public PruneRule {
 public:
  struct Options : RemovalOptions {
    Direction direction = Direction::remove;
    double until_fraction = 1;
    int64_t width = 1;

    template <class V>
    void fields(V& v) {
      v("direction", direction,
        "remove: from the intact model, at each step the head that is missed least; add: from the model without heads, "
        "at each step the one that helps most");
      v("until_fraction", until_fraction,
        "fraction of the heads removed at which the sweep ends, or with direction: add at which its points begin",
        between(0, 1));
      v("width", width, "sets of heads that are followed at once; 1: one, the best of each step", at_least(1));
      RemovalOptions::fields(v);
    }
    CrossProblems problems() const {
      if (direction == Direction::remove || min_heads_per_layer == 0) return {};
      return {{"min_heads_per_layer", "is for direction: remove; which heads stay is what direction: add finds out"}};
    }
  };
  explicit Greedy(Options options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    const RankedUnits units = options_.units(input.blocks);
    RulePlan plan;
    const OrderLimits limits = options_.limits(units, fixed_heads(options_, input, plan));
    const int64_t most = last(units, limits);
    Unit& unit = plan.units.emplace_back();
    unit.name = enum_name(options_.direction);
    const int64_t all = count_eligible(units.blocks(), limits);
    const int64_t levels = removes() ? most : all;
    for (int64_t level = 0; level <= levels; ++level) {
      const int64_t gone = removes() ? level : all - level;
      if (level > 0 && level < all) unit.select_masks += choices(level, all);  // the last step has no choice
      if (gone > most) continue;
      unit.points.push_back(sweep_point(input, limits, std::ssize(unit.points), gone));
      unit.points.back().spec.method = input.rule;  // what its heads go by
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    const RankedUnits units = options_.units(model.blocks());
    const OrderLimits limits = options_.limits(units, unit.points.front().fixed);
    const std::vector<HeadId> all = eligible_units(units.blocks(), limits);
    std::vector<HeadSet> beam = {removes() ? HeadSet() : HeadSet(all)};  // sets of removed units
    size_t next = 0;
    int64_t forward = 0;
    const auto evaluate = [&] {
      if (next == unit.points.size()) return;
      PlannedPoint point = unit.points[next];
      point.removed = units.heads(beam.front());
      if (point.removed.size() != point.spec.heads_removed) return;
      point.forward = forward;
      host.evaluate(model, point);
      ++next;
    };
    evaluate();
    for (int64_t level = 1; next < unit.points.size() && level <= std::ssize(all); ++level) {
      const PlannedPoint& planned = unit.points[next];
      const int64_t gone = removes() ? level : std::ssize(all) - level;
      // What an earlier attempt chose is not chosen again; of several sets it recorded the best alone.
      const bool is_point = planned.spec.heads_removed == gone * limits.heads_per_unit;
      if (const auto chosen = options_.width == 1 && is_point ? host.recorded(planned.spec) : std::nullopt) {
        beam = {units.units(chosen->removed)};
        forward = chosen->forward;
      } else {
        beam = step(beam, all, {units, limits, host, forward});
      }
      TORCH_CHECK(!beam.empty(), "greedy: a step without a way to go");
      evaluate();
    }
  }

 private:
  struct Search {
    const RankedUnits& units;
    const OrderLimits& limits;
    RuleHost& host;
    int64_t& forward;
  };

  bool removes() const { return options_.direction == Direction::remove; }

  /// Units removed where the sweep ends.
  int64_t last(const RankedUnits& units, const OrderLimits& limits) const {
    return removal_target(std::min(options_.until_fraction, largest_fraction(units.blocks(), limits)), units.blocks(),
                          limits)
        .heads;
  }

  /// Evaluations of a step, at most.
  int64_t choices(int64_t level, int64_t all) const { return (level == 1 ? 1 : options_.width) * (all - level + 1); }

  bool may_go(const HeadId& unit, const HeadSet& gone, const Search& search) const {
    if (gone.contains(unit)) return false;
    for (const BlockHeads& block : search.units.blocks())
      if (block.id == unit.block) return std::ssize(gone.in_block(block.id)) < removable(block, search.limits);
    return false;
  }

  /// The best `width` sets with one unit more gone, or one more back.
  std::vector<HeadSet> step(const std::vector<HeadSet>& beam, const std::vector<HeadId>& all,
                            const Search& search) const {
    struct Candidate {
      HeadSet gone;
      SelectValue value;
    };
    std::vector<Candidate> candidates;
    for (const HeadSet& gone : beam) {
      std::vector<HeadSet> masks;  // beyond what they have in common
      const HeadSet base = removes() ? search.units.heads(gone) : HeadSet();
      const size_t first = candidates.size();
      for (const HeadId& unit : all) {
        if (removes() ? !may_go(unit, gone, search) : !gone.contains(unit)) continue;
        HeadSet changed = changed_by(gone, unit);
        if (std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) { return c.gone == changed; }))
          continue;
        masks.push_back(search.units.heads(removes() ? HeadSet({unit}) : changed));
        candidates.push_back({std::move(changed), {}});
      }
      if (masks.empty()) continue;
      if (masks.size() == 1 && beam.size() == 1) return {candidates.front().gone};  // nothing to choose
      const SelectValues selected = search.host.select(base, masks);
      search.forward += selected.forward;
      for (size_t i = 0; i < masks.size(); ++i) candidates[first + i].value = selected.values[i];
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.value.better_than(b.value); });
    candidates.resize(std::min(candidates.size(), static_cast<size_t>(options_.width)));
    std::vector<HeadSet> best;
    for (Candidate& one : candidates) best.push_back(std::move(one.gone));
    return best;
  }

  HeadSet changed_by(const HeadSet& gone, const HeadId& unit) const {
    if (removes()) return gone.with(HeadSet({unit}));
    std::vector<HeadId> left = gone.heads();
    std::erase(left, unit);
    return HeadSet(left);
  }

  Options options_;
};

const Register<PruneRule, Greedy> register_greedy{
    "greedy", "at each step the head that is missed least on the select split; evaluates every way to go on"};

}  // namespace
}  // namespace headprune
