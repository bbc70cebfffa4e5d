// Which heads a rule may touch: names, layers, roles, what fractions count then, and numbers of heads.
#include "prune/allowed.h"

#include "core/error.h"
#include "support.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::test;

namespace {

using Names = std::vector<std::string>;

/// Four layers of four heads, the later the better; the first head of each layer is "positional".
struct Subject {
  Blocks blocks = encoder_blocks({4, 4, 4, 4});
  HeadsOnly model{blocks};
  NotingHost host{blocks, [](const HeadId& head, const HeadSet&, int64_t) {
                    return static_cast<double>(4 * head.block.layer + head.head);
                  }};
  RoleHeads roles = {
      {"positional", HeadSet({encoder_head(0, 0), encoder_head(1, 0), encoder_head(2, 0), encoder_head(3, 0)})},
      {"sink", std::nullopt}};

  RuleInput input(const std::string& rule) const {
    RuleInput input = sweep_input("sweep", rule, model, {{"entropy", 1}});
    input.roles = roles;
    return input;
  }
  const std::vector<PlannedPoint>& run_sweep(const std::string& yaml) {
    const auto rule = make_rule(yaml);
    run(*rule, input("rule"), model, host);
    return host.points;
  }
};

std::string refusal(const std::string& yaml) {
  const Subject subject;
  try {
    make_rule(yaml)->plan(subject.input("rule"));
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("fractions are of the heads that may go, and the others stay", "[prune][allowed]") {
  Subject subject;
  const auto& points = subject.run_sweep("{one_shot: {only: [encoder.L1, encoder.L0.H3], fractions: [0.4, 1]}}");
  REQUIRE(points.size() == 2);
  CHECK((points[0].heads_total == 5 && points[0].spec.heads_removed == 2 && points[0].fraction == 0.4));
  CHECK(names(points[0].removed) == Names{"encoder.L0.H3", "encoder.L1.H0"});
  CHECK(names(points[1].removed) ==
        Names{"encoder.L0.H3", "encoder.L1.H0", "encoder.L1.H1", "encoder.L1.H2", "encoder.L1.H3"});
  CHECK(points[1].fixed.size() == 11);
  CHECK(points[1].fixed.contains(encoder_head(0, 2)));
}

TEST_CASE("layers, protected heads and protected roles stay, whatever the rule", "[prune][allowed]") {
  const HeadSet fixed({encoder_head(0, 0), encoder_head(0, 1), encoder_head(0, 2), encoder_head(0, 3),
                       encoder_head(1, 0), encoder_head(1, 2), encoder_head(2, 0), encoder_head(3, 0)});
  const std::string options = "layers: [1, 2, 3], protect: [positional, encoder.L1.H2]";
  for (const std::string& yaml : {"{one_shot: {fractions: [0, 0.5, 1], " + options + "}}",
                                  "{one_shot: {fractions: [0, 0.5, 1], scope: layer, " + options + "}}",
                                  "{iterative: {heads_per_step: 3, " + options + "}}", "{greedy: {" + options + "}}",
                                  "{greedy: {direction: add, " + options + "}}"}) {
    CAPTURE(yaml);
    Subject subject;
    subject.host.select_value = [](const HeadSet& removed) {
      double worth = 0;
      for (const HeadId& head : removed.heads()) worth -= static_cast<double>(4 * head.block.layer + head.head);
      return SelectValue{worth, 0};
    };
    const auto& points = subject.run_sweep(yaml);
    REQUIRE(points.size() >= 3);
    int64_t most = 0;
    for (const PlannedPoint& point : points) {
      CHECK(point.heads_total == 8);
      CHECK(point.fixed == fixed);
      CHECK(point.removed.size() == point.spec.heads_removed);
      most = std::max(most, point.removed.size());
      for (const HeadId& head : point.removed.heads()) CHECK_FALSE(fixed.contains(head));
    }
    CHECK(most == 8);
  }
}

TEST_CASE("min_heads_per_layer counts protected heads among those that stay", "[prune][allowed]") {
  Subject subject;
  const auto& points = subject.run_sweep("{one_shot: {fractions: [1], min_heads_per_layer: 1, protect: [positional]}}");
  CHECK(points.at(0).removed.size() == 12);
  CHECK_THAT(refusal("{one_shot: {fractions: [1], min_heads_per_layer: 2, protect: [positional]}}"),
             ContainsSubstring("a fraction of 1 removes 12 of 12 heads") && ContainsSubstring("0.666667"));
}

TEST_CASE("numbers of heads stand beside fractions", "[prune][allowed]") {
  Subject subject;
  const auto& points = subject.run_sweep("{one_shot: {fractions: [0.5], heads: [8, 1, 4, 2]}}");
  std::vector<int64_t> removed;
  for (const PlannedPoint& point : points) removed.push_back(point.removed.size());
  CHECK(removed == std::vector<int64_t>{1, 2, 4, 8});
  const RulePlan plan = make_rule("{one_shot: {fractions: [0.5], heads: [8]}}")->plan(subject.input("rule"));
  CHECK(plan.messages == Names{"fraction 0.5 and heads: 8 both remove 8 of 16 heads: one point"});
  Subject layers;
  const auto& each = layers.run_sweep("{one_shot: {fractions: [], heads: [1], scope: layer, layers: [0, 2]}}");
  CHECK(names(each.at(0).removed) == Names{"encoder.L0.H0", "encoder.L2.H0"});
  CHECK_THAT(refusal("{one_shot: {heads: [9], layers: [0, 2]}}"), ContainsSubstring("heads: 9 cannot go: of the 8 that "
                                                                                    "may, 8 can"));
  CHECK_THAT(refusal("{one_shot: {fractions: [], heads: [4], scope: layer, min_heads_per_layer: 1}}"),
             ContainsSubstring("heads: 4 cannot go: of the 16 that may, 3 of each block can (min_heads_per_layer: 1)"));
  CHECK_THROWS_WITH(make_rule("{one_shot: {fractions: []}}"), ContainsSubstring("must not be empty without `heads`"));
}

TEST_CASE("names that do not exist are refused with those that do", "[prune][allowed]") {
  const std::string has = "which has encoder.L0 to encoder.L3 with heads H0 to H3";
  CHECK_THAT(refusal("{one_shot: {only: [encoder.L4]}}"),
             ContainsSubstring("only: 'encoder.L4' is no block") && ContainsSubstring(has));
  CHECK_THAT(refusal("{one_shot: {only: [positional]}}"), ContainsSubstring("only: 'positional' is no block"));
  CHECK_THAT(refusal("{greedy: {protect: [encoder.L0.H9]}}"),
             ContainsSubstring("protect: the model has no encoder.L0.H9; it has encoder.L0 to encoder.L3"));
  CHECK_THAT(refusal("{iterative: {protect: [retrieval]}}"),
             ContainsSubstring("none of the roles that analyses.methods gives, which are positional, sink") &&
                 ContainsSubstring("add the analysis that finds it to analyses.methods"));
  CHECK_THAT(refusal("{one_shot: {layers: [7]}}"), ContainsSubstring("layers: no layer 7 of the model has a head"));
  CHECK_THAT(refusal("{one_shot: {only: [encoder.L0.H0], protect: [positional]}}"),
             ContainsSubstring("nothing may go: kinds, only, layers and protect leave no head"));
  CHECK_THROWS_WITH(make_rule("{one_shot: {only: []}}"), ContainsSubstring("expected an entry"));
}

TEST_CASE("a role that is not known yet protects nobody, and a message says so", "[prune][allowed]") {
  const Subject subject;
  const RulePlan plan = make_rule("{one_shot: {fractions: [1], protect: [sink]}}")->plan(subject.input("rule"));
  CHECK(plan.units.at(0).points.at(0).heads_total == 16);
  REQUIRE(plan.messages.size() == 1);
  CHECK_THAT(plan.messages[0], ContainsSubstring("which heads are sink is known once the analyses have run"));
}

TEST_CASE("a group of which one head stays, stays whole", "[prune][allowed]") {
  Blocks blocks = encoder_blocks({4, 4});
  for (BlockHeads& block : blocks) block.heads_per_group = 2;
  HeadsOnly model(blocks);
  NotingHost host(blocks, [](const HeadId& head, const HeadSet&, int64_t) { return static_cast<double>(head.head); });
  run(*make_rule("{one_shot: {unit: group, fractions: [1], protect: [encoder.L0.H1]}}"),
      sweep_input("sweep", "one_shot", model, {{"entropy", 1}}), model, host);
  const PlannedPoint& point = host.points.at(0);
  CHECK((point.heads_total == 6 && point.removed.size() == 6));
  CHECK(names(point.fixed) == Names{"encoder.L0.H0", "encoder.L0.H1"});
  const auto odd = make_rule("{one_shot: {unit: group, heads: [3]}}");
  CHECK_THROWS_WITH(odd->plan(sweep_input("sweep", "one_shot", model, {{"entropy", 1}})),
                    ContainsSubstring("heads: 3 is no multiple of 2, the heads of a group"));
}

TEST_CASE("an order from a file passes over heads that stay, and masks take none of the options", "[prune][allowed]") {
  const TestFolder folder;
  folder.write("order.json", R"({"order":["encoder.L3.H0","encoder.L3.H1","encoder.L0.H2"]})");
  folder.write("masks.json", R"({"masks":[{"encoder":{"0":[1]}}]})");
  const std::string path = "path: '" + (folder / "order.json").string() + "'";
  Subject subject;
  const auto& points = subject.run_sweep("{from_file: {" + path + ", protect: [positional]}}");
  REQUIRE(points.size() == 3);
  CHECK(names(points[1].removed) == Names{"encoder.L3.H1"});
  CHECK(names(points[2].removed) == Names{"encoder.L0.H2", "encoder.L3.H1"});
  CHECK(points[2].heads_total == 12);
  Subject counted;
  const auto& few = counted.run_sweep("{from_file: {" + path + ", heads: [2]}}");
  CHECK(names(few.at(0).removed) == Names{"encoder.L3.H0", "encoder.L3.H1"});
  CHECK_THAT(refusal("{from_file: {path: '" + (folder / "masks.json").string() + "', layers: [1]}}"),
             ContainsSubstring("holds masks, which are taken as they are; drop `layers`"));
}

TEST_CASE("tables look at the heads that may go alone", "[prune][allowed]") {
  Subject subject;
  SensitivityOptions options;
  options.layers = {1, 3};
  options.protect = {"positional", "encoder.L3"};
  options.fractions = {};
  options.heads = {2};
  options.tables = {Table::leave_one_out, Table::all_but_one, Table::layer_removed, Table::layer_curve,
                    Table::kind_curve};
  subject.host.select_value = [](const HeadSet& removed) {
    return SelectValue{removed.contains(encoder_head(1, 2)) ? 0.0 : 1.0, 0};
  };
  RuleInput input = subject.input("");
  input.sweep = input.rule = "";
  run_tables(options, input, subject.model, subject.host);
  const auto& points = subject.host.points;
  REQUIRE(points.size() == 3 + 1 + 1 + 1 + 1);
  CHECK(names(points[0].removed) == Names{"encoder.L1.H1"});
  CHECK(points[0].heads_total == 16);
  CHECK(names(points[3].removed) == Names{"encoder.L1.H1", "encoder.L1.H3"});  // H2 is the best of those that may go
  CHECK((points[3].heads_total == 3 && points[3].spec.heads_removed == 2));
  CHECK(names(points[4].removed) == Names{"encoder.L1.H1", "encoder.L1.H2", "encoder.L1.H3"});
  CHECK(names(points[5].removed) == Names{"encoder.L1.H1", "encoder.L1.H2"});
  CHECK((points[6].heads_total == 3 && points[6].removed.size() == 2));
  for (const PlannedPoint& point : points) CHECK(point.fixed.contains(encoder_head(1, 0)));
}
