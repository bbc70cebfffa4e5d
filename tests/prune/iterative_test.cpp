#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Head H1 of a block looks best until H0 of the block is gone, and worst afterwards.
double interacting(const HeadId& head, const HeadSet& removed, int64_t) {
  if (head.head == 1) return removed.contains({head.block, 0}) ? 0 : 100;
  return static_cast<double>(1 + 10 * head.block.layer + head.head);
}

RuleInput iterative_input(const HeadsOnly& model, std::vector<MethodDraws> methods = {{"gradient_l1", 1}}) {
  return sweep_input("again", "iterative", model, std::move(methods));
}

std::vector<int64_t> sizes(const NotingHost& host) {
  std::vector<int64_t> result;
  for (const PlannedPoint& point : host.points) result.push_back(point.removed.size());
  return result;
}

}  // namespace

TEST_CASE("iterative scores the surviving heads before each removal", "[prune]") {
  const Blocks blocks = encoder_blocks({3, 3});
  HeadsOnly model(blocks);
  NotingHost host(blocks, interacting);
  const auto rule = make_rule("{iterative: {heads_per_step: 1, until_fraction: 0.5}}");
  const RulePlan plan = rule->plan(iterative_input(model));
  CHECK((plan.points() == 4 && plan.scorings() == 2 && plan.train_steps() == 0));
  // Random orders look at no data.
  CHECK(rule->plan(iterative_input(model, {{"gradient_l1", 1}, {.label = "random", .draws = 3, .needs_data = false}}))
            .scorings() == 2);
  run(*rule, iterative_input(model), model, host);
  CHECK(sizes(host) == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(host.calls == std::vector<std::string>{"intact gradient_l1 0", "again gradient_l1 0 again step 2 without 1",
                                               "again gradient_l1 0 again step 3 without 2"});
  // With the scores of the intact model, L0.H1 would have stayed to the end.
  CHECK(names(host.points[1].removed) == std::vector<std::string>{"encoder.L0.H0"});
  CHECK(names(host.points[2].removed) == std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H1"});
  CHECK(names(host.points[3].removed) == std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H1", "encoder.L0.H2"});
  for (size_t i = 0; i < 4; ++i) {
    CHECK(host.points[i].step == static_cast<int64_t>(i));
    CHECK(host.points[i].forward == 10 * static_cast<int64_t>(i));
    CHECK(host.points[i].backward == 20 * static_cast<int64_t>(i));
    CHECK_FALSE(host.points[i].fine_tuned);
    CHECK((host.points[i].spec.draw == 0 && host.points[i].spec.sweep == "again"));
  }
  CHECK(host.points[3].fraction == 0.5);
}

TEST_CASE("iterative removes a fraction a step, ends exactly at until_fraction, and reaches no head at all",
          "[prune]") {
  const Blocks blocks = encoder_blocks({4, 4});
  HeadsOnly model(blocks);
  const auto steps = [&](const std::string& options) {
    NotingHost host(blocks, interacting);
    const auto rule = make_rule("{iterative: {" + options + "}}");
    run(*rule, iterative_input(model), model, host);
    CHECK(rule->plan(iterative_input(model)).points() == static_cast<int64_t>(host.points.size()));
    return sizes(host);
  };
  CHECK(steps("fraction_per_step: 0.25") == std::vector<int64_t>{0, 2, 4, 6, 8});
  CHECK(steps("fraction_per_step: 0.3") == std::vector<int64_t>{0, 2, 5, 7, 8});
  CHECK(steps("heads_per_step: 3") == std::vector<int64_t>{0, 3, 6, 8});
  CHECK(steps("heads_per_step: 3, until_fraction: 0.5") == std::vector<int64_t>{0, 3, 4});
  CHECK(steps("heads_per_step: 100") == std::vector<int64_t>{0, 8});
  CHECK(steps("until_fraction: 0") == std::vector<int64_t>{0});
  CHECK(steps("fraction_per_step: 0.001, until_fraction: 0.25") == std::vector<int64_t>{0, 1, 2});
  CHECK(steps("") == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});  // a tenth of 8 heads a step
}

TEST_CASE("iterative ends when min_heads_per_layer lets no head go, and says so beforehand", "[prune]") {
  const Blocks blocks = encoder_blocks({3, 3});
  HeadsOnly model(blocks);
  for (const std::string scope : {"global", "layer"}) {
    NotingHost host(blocks, interacting);
    const auto rule = make_rule("{iterative: {heads_per_step: 1, min_heads_per_layer: 2, scope: " + scope + "}}");
    run(*rule, iterative_input(model), model, host);
    CHECK(host.points.back().removed.size() == 2);
    CHECK(host.points.back().removed.in_block({Kind::encoder, 0}).size() == 1);
    const RulePlan plan = rule->plan(iterative_input(model));
    REQUIRE(plan.messages.size() == 1);
    CHECK_THAT(plan.messages[0], ContainsSubstring("ends at fraction 0.333333 instead of 1"));
  }
}

TEST_CASE("iterative under scope layer keeps blocks in step", "[prune]") {
  const Blocks blocks = encoder_blocks({4, 2});
  HeadsOnly model(blocks);
  NotingHost host(blocks, interacting);
  run(*make_rule("{iterative: {fraction_per_step: 0.5, scope: layer}}"), iterative_input(model), model, host);
  CHECK(sizes(host) == std::vector<int64_t>{0, 3, 6});
  CHECK(host.points[1].removed.in_block({Kind::encoder, 0}).size() == 2);
  CHECK(host.points[1].removed.in_block({Kind::encoder, 1}).size() == 1);
}

TEST_CASE("fine-tuning works on a copy, step after step, and its passes count", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  NotingHost host(blocks, interacting);
  const auto rule = make_rule("{iterative: {heads_per_step: 2, fine_tune_steps: 7}}");
  CHECK(rule->plan(iterative_input(model)).train_steps() == 14);
  run(*rule, iterative_input(model), model, host);
  CHECK(model.steps_trained == 0);
  CHECK(host.trained_at_point == std::vector<int64_t>{0, 7, 14});
  CHECK(host.calls == std::vector<std::string>{"intact gradient_l1 0", "train again/gradient_l1-0/step-001 7 without 2",
                                               "again gradient_l1 0 again step 2 without 2",
                                               "train again/gradient_l1-0/step-002 7 without 4"});
  CHECK((!host.points[0].fine_tuned && host.points[1].fine_tuned && host.points[2].fine_tuned));
  CHECK((host.points[1].forward == 17 && host.points[1].backward == 27));
  CHECK((host.points[2].forward == 34 && host.points[2].backward == 54));
}

TEST_CASE("an interrupted iterative sweep ends as if it had not been interrupted", "[prune]") {
  const Blocks blocks = encoder_blocks({3, 3});
  const auto scores = [](const HeadId& head, const HeadSet& removed, int64_t trained) {
    return interacting(head, removed, trained) + (trained % 3 == static_cast<int64_t>(head.head) ? 50.0 : 0.0);
  };
  for (const std::string options : {"heads_per_step: 1", "heads_per_step: 1, fine_tune_steps: 2"}) {
    const auto rule = make_rule("{iterative: {" + options + "}}");
    HeadsOnly model(blocks);
    NotingHost whole(blocks, scores);
    run(*rule, iterative_input(model), model, whole);
    REQUIRE(whole.points.size() == 7);
    for (size_t stop = 0; stop <= 7; ++stop) {
      CAPTURE(options, stop);
      NotingHost first(blocks, scores), second(blocks, scores);
      first.stop_after = stop;
      if (stop < 7)
        CHECK_THROWS_AS(run(*rule, iterative_input(model), model, first), Stopped);
      else
        run(*rule, iterative_input(model), model, first);
      second.known = first.points;
      run(*rule, iterative_input(model), model, second);
      REQUIRE(second.points.size() == 7 - stop);
      if (stop == 7) CHECK(second.calls.empty());
      for (size_t i = stop; i < 7; ++i) {
        const PlannedPoint &now = second.points[i - stop], &then = whole.points[i];
        CHECK(now.spec == then.spec);
        CHECK(now.removed == then.removed);
        CHECK((now.forward == then.forward && now.backward == then.backward && now.step == then.step));
        CHECK(second.trained_at_point[i - stop] == whole.trained_at_point[i]);
      }
    }
  }
}

TEST_CASE("iterative says which fine-tuned points keep their weights", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  const std::pair<const char*, std::vector<bool>> expected[] = {
      {"none", {false, false, false}}, {"last", {false, false, true}}, {"all", {false, true, true}}};
  for (const auto& [which, kept] : expected) {
    INFO(which);
    NotingHost host(blocks, interacting);
    const auto rule =
        make_rule(fmt::format("{{iterative: {{heads_per_step: 2, fine_tune_steps: 7, keep_weights: {}}}}}", which));
    run(*rule, iterative_input(model), model, host);
    std::vector<bool> found;
    for (const PlannedPoint& point : host.points) found.push_back(point.keep_weights);
    CHECK(found == kept);
    CHECK(rule->plan(iterative_input(model)).kept_models() == std::count(kept.begin(), kept.end(), true));
  }
  CHECK_THROWS_WITH(make_rule("{iterative: {keep_weights: last}}"), ContainsSubstring("without fine_tune_steps"));
}

TEST_CASE("a control trains the intact model for the same steps, once for all methods", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  NotingHost host(blocks, interacting);
  const auto rule = make_rule("{iterative: {heads_per_step: 2, fine_tune_steps: 7, control: true}}");
  const RulePlan plan = rule->plan(iterative_input(model, {{"gradient_l1", 1}, {"random", 3}}));
  CHECK(plan.points() == 4 * 3 + 2);
  CHECK(plan.train_steps() == 7 * 2 * (4 + 1));
  run(*rule, iterative_input(model), model, host);
  REQUIRE(host.points.size() == 3 + 2);
  for (int64_t step = 1; step <= 2; ++step) {
    const PlannedPoint& point = host.points[static_cast<size_t>(2 + step)];
    CHECK(point.removed.empty());
    CHECK(point.step == step);
    CHECK(point.spec.control_steps == 7 * step);
    CHECK(point.spec.method.empty());
    CHECK((point.fine_tuned && point.backward == 7 * step));
    CHECK(host.trained_at_point[static_cast<size_t>(2 + step)] == 7 * step);
  }
  CHECK_FALSE(host.points[3].spec == host.points[4].spec);
  CHECK(host.calls.back() == "train again/control/step-002 7 without 0");
  CHECK(model.steps_trained == 0);  // later sweeps start from the intact model
  // Nothing is trained again for what is there.
  host.known = host.points;
  host.points.clear();
  host.calls.clear();
  run(*rule, iterative_input(model), model, host);
  CHECK(host.points.empty());
  CHECK_THROWS_WITH(make_rule("{iterative: {control: true}}"), ContainsSubstring("no training to control for"));
}

TEST_CASE("the optimizer starts anew at each step, or carries on", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  const auto trainings = [&](const std::string& options) {
    NotingHost host(blocks, interacting);
    run(*make_rule("{iterative: {heads_per_step: 2, fine_tune_steps: 7" + options + "}}"), iterative_input(model),
        model, host);
    std::vector<std::string> calls;
    for (const std::string& call : host.calls)
      if (call.starts_with("train")) calls.push_back(call);
    return calls;
  };
  CHECK(trainings("") == std::vector<std::string>{"train again/gradient_l1-0/step-001 7 without 2",
                                                  "train again/gradient_l1-0/step-002 7 without 4"});
  CHECK(trainings(", optimizer: carry_on") ==
        std::vector<std::string>{"train again/gradient_l1-0/step-001 7 without 2",
                                 "train again/gradient_l1-0/step-002 7 without 4 after again/gradient_l1-0/step-001"});
  CHECK_THROWS_WITH(make_rule("{iterative: {optimizer: carry_on}}"), ContainsSubstring("nothing is trained"));
}
