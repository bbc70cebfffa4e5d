// Repeat: score the surviving heads, remove a few, optionally train on with their gates fixed at 0, evaluate. The first
// step uses the scores of the intact model. How many heads go at each step is known before the first, so it always
// ends.
#include <algorithm>

#include "core/error.h"
#include "prune/ranking.h"

namespace headprune {
namespace {

enum class KeepWeights { none, last, all };
enum class BetweenSteps { restart, carry_on };

}  // namespace
template <>
struct EnumNames<BetweenSteps> {
  static constexpr std::pair<const char*, BetweenSteps> names[] = {{"restart", BetweenSteps::restart},
                                                                   {"carry_on", BetweenSteps::carry_on}};
};

template <>
struct EnumNames<KeepWeights> {
  static constexpr std::pair<const char*, KeepWeights> names[] = {
      {"none", KeepWeights::none}, {"last", KeepWeights::last}, {"all", KeepWeights::all}};
};

namespace {

class Iterative final : public PruneRule {
 public:
  struct Options : RankingOptions {
    std::optional<int64_t> heads_per_step;
    std::optional<double> fraction_per_step;
    double until_fraction = 1;
    int64_t fine_tune_steps = 0;
    BetweenSteps optimizer = BetweenSteps::restart;
    bool control = false;
    KeepWeights keep_weights = KeepWeights::none;

    template <class V>
    void fields(V& v) {
      RankingOptions::fields(v);
      v("heads_per_step", heads_per_step, "heads to remove between two scorings; this or fraction_per_step",
        at_least(1));
      v("fraction_per_step", fraction_per_step,
        "the same as a fraction of all heads; 0.1 when neither of the two is given", between(0.001, 1));
      v("until_fraction", until_fraction,
        "fraction of the heads at which the sweep ends, or earlier when min_heads_per_layer lets no head go any more",
        between(0, 1));
      v("fine_tune_steps", fine_tune_steps,
        "training steps after each removal, with the removed heads' gates fixed at 0; needs the section train",
        at_least(0));
      v("optimizer", optimizer,
        "restart: each of these trainings begins with a fresh AdamW and goes through the learning rates of the section "
        "train over its own steps; carry_on: from the second on AdamW keeps its moments, and the learning rate is "
        "train.learning_rate throughout");
      v("control", control,
        "also train the intact model for the same steps, and evaluate it beside each point: what training alone gives");
      v("keep_weights", keep_weights,
        "fine-tuned points whose weights stay in the run folder, for `export`: none, the last of each curve, or all");
    }
    CrossProblems problems() const {
      CrossProblems found;
      if (heads_per_step && fraction_per_step)
        found.emplace_back("fraction_per_step", "heads_per_step says the same in another unit; drop one of the two");
      if (keep_weights != KeepWeights::none && fine_tune_steps == 0)
        found.emplace_back("keep_weights",
                           "without fine_tune_steps every point has the model's own weights: leave it out");
      if (fine_tune_steps == 0 && control)
        found.emplace_back("control", "without fine_tune_steps there is no training to control for: leave it out");
      if (fine_tune_steps == 0 && optimizer != BetweenSteps::restart)
        found.emplace_back("optimizer", "without fine_tune_steps nothing is trained: leave it out");
      return found;
    }
  };
  explicit Iterative(Options options) : options_(std::move(options)) {}

  std::vector<std::string> methods() const override { return options_.methods; }

  /// A curve is one chain: what goes at a step depends on what went before.
  RulePlan plan(const RuleInput& input) const override {
    const RankedUnits units = options_.units(input.blocks);
    RulePlan plan;
    const OrderLimits limits = options_.limits(units, fixed_heads(options_, input, plan));
    const Steps steps = schedule(units, limits);
    const auto removals = std::ssize(steps.targets);
    const bool trains = options_.fine_tune_steps > 0;
    plan.add(steps.messages);
    for (const RankedBy& by : curves_of(input.methods)) {
      Unit& unit = plan.units.emplace_back();
      unit.name = curve_name(by, input.methods);
      add_scorings(unit, by, input.methods, std::max<int64_t>(0, removals - 1));
      unit.train_steps = removals * options_.fine_tune_steps;
      for (int64_t step = 0; step <= removals; ++step) {
        const int64_t gone = step == 0 ? 0 : steps.targets[static_cast<size_t>(step - 1)].heads;
        PlannedPoint point = sweep_point(input, limits, step, gone);
        point.spec.method = by.method;
        point.spec.draw = by.draw;
        point.fine_tuned = trains && step > 0;
        point.keep_weights = step > 0 && (options_.keep_weights == KeepWeights::all ||
                                          (options_.keep_weights == KeepWeights::last && step == removals));
        unit.points.push_back(std::move(point));
      }
    }
    if (options_.control) plan.units.push_back(control(input, limits, removals));
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    // A sweep that trains must not touch the intact model, which later sweeps start from.
    const std::shared_ptr<Model> own = options_.fine_tune_steps > 0 ? model.copy() : nullptr;
    Model& used = own ? *own : model;
    if (unit.points.front().spec.control_steps)
      follow_control(unit, used, host);
    else
      follow(unit, used, host);
  }

 private:
  struct Steps {
    std::vector<RemovalTarget> targets;  // strictly growing, without the intact model
    std::vector<std::string> messages;
  };

  Steps schedule(const RankedUnits& units, const OrderLimits& limits) const {
    const Blocks& blocks = units.blocks();
    const auto all = static_cast<double>(count_eligible(blocks, limits) * units.heads_per_unit());
    const double reach = largest_fraction(blocks, limits), end = std::min(options_.until_fraction, reach);
    const double stride = options_.heads_per_step ? static_cast<double>(*options_.heads_per_step) / all
                                                  : options_.fraction_per_step.value_or(0.1);
    Steps steps;
    if (end < options_.until_fraction)
      steps.messages.push_back(
          fmt::format("ends at fraction {:.6g} instead of {}: min_heads_per_layer: {} lets no more "
                      "heads go",
                      end, options_.until_fraction, options_.min_heads_per_layer));
    int64_t gone = 0;
    const auto add = [&](double fraction) {
      RemovalTarget target = removal_target(fraction, blocks, limits);
      if (target.heads <= gone) return;
      gone = target.heads;
      steps.targets.push_back(std::move(target));
    };
    // Steps smaller than half a unit remove nothing and are passed over; the last one goes exactly to the end.
    for (int64_t s = 1; static_cast<double>(s) * stride < end; ++s) add(static_cast<double>(s) * stride);
    add(end);
    return steps;
  }

  void follow(const Unit& unit, Model& model, RuleHost& host) const {
    const RankedUnits units = options_.units(model.blocks());
    const OrderLimits limits = options_.limits(units, unit.points.front().fixed);
    const RankedBy by = ranked_by(unit);
    const std::string& sweep = unit.points.front().spec.sweep;
    const std::vector<RemovalTarget> targets = schedule(units, limits).targets;
    host.evaluate(model, unit.points.front());
    HeadSet removed;
    int64_t forward = 0, backward = 0;
    for (int64_t step = 1; step <= std::ssize(targets); ++step) {
      const Importance scores =
          step == 1 ? host.intact_scores(by) : host.score_again(model, {by, removed, sweep, step});
      forward += scores.forward;
      backward += scores.backward;
      const HeadSet gone = units.units(removed);
      const std::vector<HeadId> order =
          ascending_order(units.blocks(), units.values(scores.values, removed), gone, limits.kinds);
      const RemovalTarget& target = targets[static_cast<size_t>(step - 1)];
      removed = units.heads(choose_heads(order, units.blocks(), limits, target, gone));
      PlannedPoint point = unit.points[static_cast<size_t>(step)];
      if (point.fine_tuned) {
        const FineTuning how = fine_tuning(fmt::format("{}/{}-{}", sweep, by.method, by.draw), step);
        const auto [more_forward, more_backward] = host.fine_tune(model, removed, how);
        forward += more_forward;
        backward += more_backward;
      }
      point.removed = removed;
      point.forward = forward;
      point.backward = backward;
      host.evaluate(model, point);
    }
  }

  FineTuning fine_tuning(const std::string& curve, int64_t step) const {
    const bool goes_on = options_.optimizer == BetweenSteps::carry_on && step > 1;
    return {.steps = options_.fine_tune_steps,
            .name = fmt::format("{}/step-{:03}", curve, step),
            .goes_on_from = goes_on ? fmt::format("{}/step-{:03}", curve, step - 1) : ""};
  }

  /// The intact model, trained as the curves are, with no head removed.
  Unit control(const RuleInput& input, const OrderLimits& limits, int64_t removals) const {
    Unit unit;
    unit.name = "control";
    unit.train_steps = removals * options_.fine_tune_steps;
    for (int64_t step = 1; step <= removals; ++step) {
      unit.points.push_back(sweep_point(input, limits, step, 0));
      unit.points.back().spec.control_steps = step * options_.fine_tune_steps;
      unit.points.back().fine_tuned = true;
    }
    return unit;
  }

  void follow_control(const Unit& unit, Model& model, RuleHost& host) const {
    int64_t forward = 0, backward = 0;
    for (PlannedPoint point : unit.points) {
      const FineTuning how = fine_tuning(point.spec.sweep + "/control", point.step);
      const auto [more_forward, more_backward] = host.fine_tune(model, {}, how);
      point.forward = forward += more_forward;
      point.backward = backward += more_backward;
      host.evaluate(model, point);
    }
  }

  Options options_;
};

const Register<PruneRule, Iterative> register_iterative{
    "iterative", "repeat: score the surviving heads, remove some, optionally fine-tune, evaluate"};

}  // namespace
}  // namespace headprune
