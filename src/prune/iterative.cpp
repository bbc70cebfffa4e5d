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

  SweepPlan plan(const Blocks& blocks, const std::vector<MethodDraws>& methods) const override {
    const Steps steps = schedule(blocks);
    const auto removals = static_cast<int64_t>(steps.targets.size());
    const int64_t curves = curve_count(methods);
    SweepPlan plan;
    plan.points = (removals + 1) * curves + (options_.control ? removals : 0);
    plan.scorings = std::max<int64_t>(0, removals - 1) * curves;
    plan.train_steps = removals * options_.fine_tune_steps * (curves + (options_.control ? 1 : 0));
    if (options_.keep_weights != KeepWeights::none)
      plan.kept_models =
          (options_.keep_weights == KeepWeights::all ? removals : std::min<int64_t>(1, removals)) * curves;
    plan.messages = steps.messages;
    return plan;
  }

  void run(const SweepInput& input) const override {
    const Steps steps = schedule(input.model.blocks());
    for (const MethodDraws& method : input.methods)
      for (int64_t draw = 0; draw < method.draws; ++draw) follow(input, method.label, draw, steps);
    if (options_.control) follow_control(input, steps);
  }

 private:
  struct Steps {
    std::vector<RemovalTarget> targets;  // strictly growing, without the intact model
    std::vector<std::string> messages;
  };

  Steps schedule(const Blocks& blocks) const {
    const OrderLimits limits = options_.limits();
    const auto all = static_cast<double>(count_heads(blocks, limits.kinds));
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
    // Steps smaller than half a head remove nothing and are passed over; the last one goes exactly to the end.
    for (int64_t s = 1; static_cast<double>(s) * stride < end; ++s) add(static_cast<double>(s) * stride);
    add(end);
    return steps;
  }

  /// One curve. Walks the same path on every run: the host returns what it stored of scores and weights, so that a
  /// point that is already there is passed by, and the first missing one is reached with the same model.
  void follow(const SweepInput& input, const std::string& method, int64_t draw, const Steps& steps) const {
    const Blocks blocks = input.model.blocks();
    const OrderLimits limits = options_.limits();
    const Curve curve{input, method, draw, limits, count_heads(blocks, limits.kinds)};
    // Nothing needs to be trained or loaded again.
    if (input.host.done(curve_point(curve, 0, {}).spec) && all_done(curve, steps.targets)) return;
    // A sweep that trains must not touch the intact model, which later sweeps start from.
    const bool trains = options_.fine_tune_steps > 0;
    const std::shared_ptr<Model> own = trains ? input.model.copy() : nullptr;
    Model& model = trains ? *own : input.model;

    PlannedPoint point = curve_point(curve, 0, {});
    if (!input.host.done(point.spec)) input.host.evaluate(model, point);
    HeadSet removed;
    int64_t forward = 0, backward = 0, step = 0;
    for (const RemovalTarget& target : steps.targets) {
      ++step;
      const Importance scores = step == 1 ? input.host.intact_scores(method, draw)
                                          : input.host.score_again(model, method, draw, removed, input.sweep, step);
      forward += scores.forward;
      backward += scores.backward;
      const std::vector<HeadId> order = ascending_order(blocks, scores.values, removed, limits.kinds);
      removed = choose_heads(order, blocks, limits, target, removed);
      if (trains) {
        const std::string curve_name = fmt::format("{}/{}-{}", input.sweep, method, draw);
        const auto [more_forward, more_backward] = input.host.fine_tune(model, removed, fine_tuning(curve_name, step));
        forward += more_forward;
        backward += more_backward;
      }
      point = curve_point(curve, step, removed);
      point.forward = forward;
      point.backward = backward;
      point.fine_tuned = trains;
      point.keep_weights = options_.keep_weights == KeepWeights::all ||
                           (options_.keep_weights == KeepWeights::last && step == std::ssize(steps.targets));
      if (!input.host.done(point.spec)) input.host.evaluate(model, point);
    }
  }

  FineTuning fine_tuning(const std::string& curve, int64_t step) const {
    const bool goes_on = options_.optimizer == BetweenSteps::carry_on && step > 1;
    return {.steps = options_.fine_tune_steps,
            .name = fmt::format("{}/step-{:03}", curve, step),
            .goes_on_from = goes_on ? fmt::format("{}/step-{:03}", curve, step - 1) : ""};
  }

  /// The intact model, trained as the curves are, with no head removed.
  void follow_control(const SweepInput& input, const Steps& steps) const {
    const OrderLimits limits = options_.limits();
    const Curve curve{input, "", std::nullopt, limits, count_heads(input.model.blocks(), limits.kinds)};
    std::vector<PlannedPoint> points;
    for (int64_t step = 1; step <= std::ssize(steps.targets); ++step) {
      points.push_back(curve_point(curve, step, {}));
      points.back().spec.control_steps = step * options_.fine_tune_steps;
      points.back().fine_tuned = true;
    }
    const auto done = [&](const PlannedPoint& point) { return input.host.done(point.spec); };
    if (std::all_of(points.begin(), points.end(), done)) return;
    const std::shared_ptr<Model> model = input.model.copy();
    int64_t forward = 0, backward = 0;
    for (PlannedPoint& point : points) {
      const auto [more_forward, more_backward] =
          input.host.fine_tune(*model, {}, fine_tuning(input.sweep + "/control", point.step));
      point.forward = forward += more_forward;
      point.backward = backward += more_backward;
      if (!done(point)) input.host.evaluate(*model, point);
    }
  }

  Options options_;
};

const Register<PruneRule, Iterative> register_iterative{
    "iterative", "repeat: score the surviving heads, remove some, optionally fine-tune, evaluate"};

}  // namespace
}  // namespace headprune
