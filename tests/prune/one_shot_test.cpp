#include "config/problems.h"
#include "core/error.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

double by_position(const HeadId& head, const HeadSet&, int64_t) {
  return static_cast<double>(10 * head.block.layer + head.head);
}

RuleInput one_shot_input(const HeadsOnly& model,
                         std::vector<MethodDraws> methods = {{"gradient_l1", 1}, {"random", 2}}) {
  return sweep_input("mine", "one_shot", model, std::move(methods));
}

}  // namespace

TEST_CASE("exactly the rules of this program are registered, each with a summary", "[prune]") {
  const auto& registry = Registry<PruneRule>::instance();
  CHECK(registry.names() == std::vector<std::string>{"convert", "from_file", "greedy", "hard_concrete", "iterative",
                                                     "mask_search", "one_shot", "retention_removal", "top_k"});
  CHECK(registry.duplicates().empty());
  for (const std::string& name : registry.names()) CHECK_FALSE(registry.summary(name).empty());
}

TEST_CASE("one_shot at an earlier step scores the weights it is given, and its points say that they are others",
          "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  NotingHost host(blocks, by_position);
  const auto rule = make_rule("{one_shot: {methods: [gradient_l1], fractions: [0, 0.5], at_step: 7}}");
  CHECK(rule->at_step() == 7);
  CHECK_FALSE(make_rule("one_shot")->at_step());
  RuleInput input = sweep_input("step_7", "one_shot", model, {{"gradient_l1", 1}});
  input.at_step = 7;
  CHECK(rule->plan(input).scorings() == 1);
  run(*rule, input, model, host);
  REQUIRE(host.points.size() == 2);
  REQUIRE(host.calls.size() == 1);
  CHECK_THAT(host.calls.front(), ContainsSubstring("again"));
  for (const PlannedPoint& point : host.points) CHECK(point.spec.at_step == 7);
  // All there: nothing is scored again.
  NotingHost second(blocks, by_position);
  second.known = host.points;
  run(*rule, input, model, second);
  CHECK((second.points.empty() && second.calls.empty()));
}

TEST_CASE("one_shot removes growing prefixes of one order for each method and draw", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  NotingHost host(blocks, by_position);
  const auto rule = make_rule("{one_shot: {methods: [gradient_l1, random], fractions: [0, 0.5, 1]}}");
  CHECK(rule->methods() == std::vector<std::string>{"gradient_l1", "random"});
  const RuleInput input = one_shot_input(model);
  const std::vector<PlannedPoint> listed = planned(*rule, input);
  REQUIRE(listed.size() == 9);
  run(*rule, input, model, host);
  REQUIRE(host.points.size() == 9);
  CHECK(host.calls == std::vector<std::string>{"intact gradient_l1 0", "intact random 0", "intact random 1"});

  CHECK(host.units == std::vector<std::string>{"gradient_l1", "random, draw 0", "random, draw 1"});
  for (size_t i = 0; i < listed.size(); ++i) CHECK(listed[i].spec == host.points[i].spec);

  const PlannedPoint& intact = host.points[0];
  CHECK(intact.removed.empty());
  CHECK((intact.step == 0 && intact.fraction == 0 && intact.forward == 0 && intact.backward == 0));
  const PlannedPoint& half = host.points[1];
  CHECK(half.spec == PointSpec{.seed = 4,
                               .method = "gradient_l1",
                               .draw = 0,
                               .sweep = "mine",
                               .rule = "one_shot",
                               .at_step = {},
                               .table = "",
                               .kind = "all",
                               .layer = {},
                               .head = {},
                               .heads_removed = 2});
  CHECK(names(half.removed) == std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H1"});
  CHECK((half.step == 1 && half.fraction == 0.5 && half.heads_total == 4 && half.scope == "global"));
  CHECK((half.forward == 10 && half.backward == 20 && !half.fine_tuned));
  CHECK(host.points[2].removed.size() == 4);
  CHECK(host.points[2].fraction == 1);
  CHECK((host.points[8].spec.method == "random" && host.points[8].spec.draw == 1));
}

TEST_CASE("one_shot passes by points that are done", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  const auto rule = make_rule("{one_shot: {fractions: [0, 0.25, 0.5, 1]}}");
  NotingHost whole(blocks, by_position), first(blocks, by_position), second(blocks, by_position);
  run(*rule, one_shot_input(model), model, whole);
  first.stop_after = 5;
  CHECK_THROWS_AS(run(*rule, one_shot_input(model), model, first), Stopped);
  second.known = first.points;
  run(*rule, one_shot_input(model), model, second);
  REQUIRE(second.points.size() == whole.points.size() - 5);
  for (size_t i = 0; i < second.points.size(); ++i) {
    CHECK(second.points[i].spec == whole.points[i + 5].spec);
    CHECK(second.points[i].removed == whole.points[i + 5].removed);
  }
}

TEST_CASE("one_shot obeys scope and kinds, and plans what it can do", "[prune]") {
  const Blocks blocks = {{{Kind::encoder, 0}, {0, 1}}, {{Kind::decoder, 0}, {0, 1, 2, 3}}};
  HeadsOnly model(blocks);
  NotingHost host(blocks, by_position);
  const auto rule = make_rule("{one_shot: {kinds: [decoder], scope: layer, fractions: [0.5]}}");
  run(*rule, one_shot_input(model), model, host);
  CHECK(names(host.points[0].removed) == std::vector<std::string>{"decoder.L0.H0", "decoder.L0.H1"});
  CHECK(host.points[0].heads_total == 4);
  CHECK((host.points[0].spec.kind == "decoder" && host.points[0].scope == "layer"));

  const auto greedy = make_rule("{one_shot: {min_heads_per_layer: 1, fractions: [0.5, 1]}}");
  CHECK_THROWS_WITH(greedy->plan(one_shot_input(model, {{"entropy", 1}})),
                    ContainsSubstring("largest fraction that can be reached is 0.66"));
  const auto merged = make_rule("{one_shot: {fractions: [0.5, 0.51]}}");
  CHECK(merged->plan(one_shot_input(model, {{"entropy", 1}})).points() == 1);
  CHECK(merged->plan(one_shot_input(model, {{"entropy", 1}})).messages.size() == 1);
  CHECK_THROWS_AS(make_rule("{one_shot: {kinds: [cross]}}")->plan(one_shot_input(model)), Error);
}

TEST_CASE("options that no rule can follow are configuration errors", "[prune]") {
  CHECK_THROWS_AS(make_rule("{one_shot: {fractions: [1.5]}}"), ConfigError);
  CHECK_THROWS_AS(make_rule("{one_shot: {fractions: []}}"), ConfigError);
  CHECK_THROWS_AS(make_rule("{one_shot: {min_heads_per_layer: -1}}"), ConfigError);
  CHECK_THROWS_AS(make_rule("{one_shot: {scope: block}}"), ConfigError);
  CHECK_THROWS_AS(make_rule("{iterative: {heads_per_step: 0}}"), ConfigError);
  CHECK_THROWS_AS(make_rule("{iterative: {fraction_per_step: 0}}"), ConfigError);
  CHECK_THROWS_WITH(make_rule("{iterative: {heads_per_step: 1, fraction_per_step: 0.1}}"),
                    ContainsSubstring("heads_per_step says the same in another unit"));
  CHECK_THROWS_AS(make_rule("from_file"), ConfigError);
  CHECK_THROWS_AS(make_rule("{from_file: {path: /nowhere/at/all.json}}"), ConfigError);
}
