// Not a removal but its rival (Ainslie et al. 2023): all query heads stay, and fewer keys and values serve them, after
// which the model is trained on. Each number of groups is a row of its own, beside what pruning leaves at the same size
// of model or cache.
#include <set>

#include "prune/ranking.h"

namespace headprune {
namespace {

class Convert final : public PruneRule {
 public:
  struct Options {
    std::vector<int64_t> groups;
    GroupInit init = GroupInit::mean;
    int64_t fine_tune_steps = 0;
    KeepModels keep_weights = KeepModels::none;

    template <class V>
    void fields(V& v) {
      v("groups", groups,
        "key/value heads of every block, a row each; a number divides that of the intact model, and that number "
        "itself is the control: the intact model, trained as the others are",
        not_empty, at_least(1));
      v("init", init, kGroupInitHelp);
      v("fine_tune_steps", fine_tune_steps, "training steps after each conversion; needs the section train",
        at_least(0));
      v("keep_weights", keep_weights, "whether the converted models stay in the run folder, for `export`: none or all");
    }
    CrossProblems problems() const {
      CrossProblems found;
      if (std::set<int64_t>(groups.begin(), groups.end()).size() != groups.size())
        found.emplace_back("groups", "a number stands twice; each is one row");
      if (init == GroupInit::random && fine_tune_steps == 0)
        found.emplace_back("init", "random projections mean nothing before they are trained: set fine_tune_steps");
      return found;
    }
  };
  explicit Convert(Options options) : options_(std::move(options)) {}

  bool converts() const override { return true; }

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    for (const int64_t groups : options_.groups) {
      require_groups(input.blocks, groups);
      Unit& unit = plan.units.emplace_back();
      unit.name = fmt::format("groups_{}", groups);
      unit.train_steps = options_.fine_tune_steps;
      PlannedPoint point = sweep_point(input, {}, std::ssize(plan.units) - 1, 0);
      point.spec.name = unit.name;
      point.fine_tuned = true;
      point.keep_weights = options_.keep_weights == KeepModels::all;
      unit.points.push_back(std::move(point));
    }
    return plan;
  }

  void run(const Unit& unit, Model&, RuleHost& host) const override {
    PlannedPoint point = unit.points.front();
    const int64_t groups = options_.groups.at(static_cast<size_t>(point.step));
    const std::shared_ptr<Model> converted = host.converted(groups, options_.init);
    if (options_.fine_tune_steps > 0) {
      const FineTuning how{.steps = options_.fine_tune_steps, .name = point.spec.sweep + "/" + unit.name};
      std::tie(point.forward, point.backward) = host.fine_tune(*converted, {}, how);
    }
    host.evaluate(*converted, point);
  }

 private:
  Options options_;
};

const Register<PruneRule, Convert> register_convert{
    "convert", "fewer key/value heads for the same query heads, as a rival of pruning (Ainslie et al. 2023)"};

}  // namespace
}  // namespace headprune
