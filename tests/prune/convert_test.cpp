#include "core/error.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

RuleInput convert_input(const Model& model) { return sweep_input("fewer", "convert", model, {{"random", 5}}); }

}  // namespace

TEST_CASE("convert has a row for each number of groups, trained on a copy of its own", "[prune]") {
  HeadsOnly model(encoder_blocks({4, 4}));
  NotingHost host(encoder_blocks({4, 4}), no_scores);
  const auto rule = make_rule("{convert: {groups: [4, 1, 2], fine_tune_steps: 7, keep_weights: all}}");
  const RulePlan plan = rule->plan(convert_input(model));
  CHECK(rule->converts());
  CHECK((plan.points() == 3 && plan.train_steps() == 21 && plan.kept_models() == 3 && plan.scorings() == 0));
  run(*rule, convert_input(model), model, host);
  CHECK(host.calls == std::vector<std::string>{"convert 4 mean", "train fewer/groups_4 7 without 0", "convert 1 mean",
                                               "train fewer/groups_1 7 without 0", "convert 2 mean",
                                               "train fewer/groups_2 7 without 0"});
  REQUIRE(host.points.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    const PlannedPoint& point = host.points[i];
    CHECK(point.spec.name == std::vector<std::string>{"groups_4", "groups_1", "groups_2"}[i]);
    CHECK((point.removed.empty() && point.fine_tuned && point.other_model() && !point.intact()));
    CHECK((point.forward == 7 && point.backward == 7));
    CHECK(host.trained_at_point[i] == 7);
  }
  CHECK(model.steps_trained == 0);

  // What is done is neither converted nor trained again.
  NotingHost again(encoder_blocks({4, 4}), no_scores);
  again.known = {host.points[0], host.points[2]};
  run(*rule, convert_input(model), model, again);
  CHECK(again.calls == std::vector<std::string>{"convert 1 mean", "train fewer/groups_1 7 without 0"});
}

TEST_CASE("convert names numbers of groups that cannot be", "[prune]") {
  HeadsOnly model(encoder_blocks({4, 6}));
  const auto plan = [&](const std::string& options) { make_rule(options)->plan(convert_input(model)); };
  CHECK_NOTHROW(plan("{convert: {groups: [1, 2]}}"));
  CHECK_THROWS_WITH(plan("{convert: {groups: [4]}}"), ContainsSubstring("4 does not divide the 6 key/value heads"));
  CHECK_THROWS_WITH(make_rule("{convert: {groups: []}}"), ContainsSubstring("groups"));
  CHECK_THROWS_WITH(make_rule("{convert: {groups: [2, 2]}}"), ContainsSubstring("a number stands twice"));
  CHECK_THROWS_WITH(make_rule("{convert: {groups: [2], init: random}}"), ContainsSubstring("set fine_tune_steps"));
}
