// Groups as units of rules and tables: the heads that read the same keys and values go together.
#include "config/problems.h"
#include "core/error.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Two blocks of three groups of two heads.
Blocks grouped_blocks() {
  Blocks blocks;
  for (int64_t layer = 0; layer < 2; ++layer)
    blocks.push_back({.id = {Kind::decoder, layer}, .heads = {0, 1, 2, 3, 4, 5}, .heads_per_group = 2});
  return blocks;
}

/// Means of groups in layer 0: 5, 3, 4; in layer 1: 15, 13, 14.
double by_group(const HeadId& head, const HeadSet&, int64_t) {
  const double mean[] = {5, 3, 4};
  return 10.0 * static_cast<double>(head.block.layer) + mean[head.head / 2] + (head.head % 2 == 0 ? -9 : 9);
}

std::vector<PlannedPoint> run_rule_on(const Blocks& blocks, const std::string& yaml) {
  HeadsOnly model(blocks);
  NotingHost host(blocks, by_group);
  const auto rule = make_rule(yaml);
  const RuleInput input = sweep_input("mine", "one_shot", model, {{"gradient_l1", 1}});
  const std::vector<PlannedPoint> listed = planned(*rule, input);
  run(*rule, input, model, host);
  REQUIRE(listed.size() == host.points.size());
  for (size_t i = 0; i < listed.size(); ++i) CHECK(listed[i].spec == host.points[i].spec);
  for (const PlannedPoint& point : host.points) CHECK(point.removed.size() == point.spec.heads_removed);
  return host.points;
}

}  // namespace

TEST_CASE("one_shot removes whole groups in the order of their heads' mean score", "[prune]") {
  const auto points = run_rule_on(grouped_blocks(), "{one_shot: {unit: group, fractions: [0, 0.17, 0.5, 1]}}");
  REQUIRE(points.size() == 4);
  CHECK(names(points[1].removed) == std::vector<std::string>{"decoder.L0.H2", "decoder.L0.H3"});
  CHECK((points[1].spec.heads_removed == 2 && points[1].heads_total == 12));
  CHECK(points[1].fraction == Approx(2.0 / 12));
  CHECK(points[2].removed.in_block({Kind::decoder, 0}).size() == 6);
  CHECK(points[3].removed.size() == 12);
}

TEST_CASE("under scope layer and with heads that stay, fractions are of groups", "[prune]") {
  const auto points = run_rule_on(grouped_blocks(), "{one_shot: {unit: group, scope: layer, fractions: [0.34]}}");
  CHECK(names(points.at(0).removed) ==
        std::vector<std::string>{"decoder.L0.H2", "decoder.L0.H3", "decoder.L1.H2", "decoder.L1.H3"});
  // Three heads that stay are two groups that do.
  HeadsOnly model(grouped_blocks());
  const RuleInput input = sweep_input("mine", "one_shot", model, {{"gradient_l1", 1}});
  const auto rule = make_rule("{one_shot: {unit: group, min_heads_per_layer: 3, fractions: [0.5]}}");
  CHECK_THROWS_WITH(rule->plan(input), ContainsSubstring("removes 3 of 6 groups") && ContainsSubstring("0.333333"));
}

TEST_CASE("iterative removes groups step by step", "[prune]") {
  const auto points =
      run_rule_on(grouped_blocks(), "{iterative: {unit: group, heads_per_step: 4, until_fraction: 0.67}}");
  std::vector<int64_t> removed;
  for (const PlannedPoint& point : points) removed.push_back(point.spec.heads_removed);
  CHECK(removed == std::vector<int64_t>{0, 4, 8});
  CHECK(names(points[1].removed) ==
        std::vector<std::string>{"decoder.L0.H2", "decoder.L0.H3", "decoder.L0.H4", "decoder.L0.H5"});
}

TEST_CASE("groups of different sizes are refused, named", "[prune]") {
  Blocks blocks = grouped_blocks();
  blocks[1].heads = {0, 1, 2, 4, 5};
  HeadsOnly model(blocks);
  const RuleInput input = sweep_input("mine", "one_shot", model, {{"gradient_l1", 1}});
  CHECK_THROWS_WITH(make_rule("{one_shot: {unit: group}}")->plan(input),
                    ContainsSubstring("group decoder.L1.G1 has 1") && ContainsSubstring("use unit: query"));
  CHECK_NOTHROW(make_rule("one_shot")->plan(input));
}

TEST_CASE("tables of groups: each alone, all but one, growing fractions", "[prune]") {
  const Blocks blocks = grouped_blocks();
  HeadsOnly model(blocks);
  SensitivityOptions options;
  options.unit = HeadUnit::group;
  const auto table = [&](Table which) {
    options.tables = {which};
    NotingHost host(blocks, by_group);
    // Best without the heads of group 1 of its block.
    host.select_value = [](const HeadSet& mask) {
      double worth = 0;
      for (const HeadId& head : mask.heads()) worth -= head.head / 2 == 1 ? 10 : 1;
      return SelectValue{.headline = worth, .loss = 0};
    };
    run_tables(options, sweep_input("", "", model, {{"gradient_l1", 1}}), model, host);
    return host.points;
  };
  const auto alone = table(Table::leave_one_out);
  REQUIRE(alone.size() == 6);
  CHECK((alone[4].spec.layer == 1 && alone[4].spec.group == 1 && !alone[4].spec.head));
  CHECK((alone[4].spec.heads_removed == 2 && alone[4].heads_total == 12));
  CHECK(names(alone[4].removed) == std::vector<std::string>{"decoder.L1.H2", "decoder.L1.H3"});
  CHECK(alone[4].spec.shown() == Shown::heads);
  const auto kept = table(Table::all_but_one);
  REQUIRE(kept.size() == 2);
  CHECK(names(kept[0].removed) ==
        std::vector<std::string>{"decoder.L0.H0", "decoder.L0.H1", "decoder.L0.H4", "decoder.L0.H5"});
  CHECK((kept[0].spec.heads_removed == 4 && kept[0].heads_total == 6));
  options.fractions = {0.34, 1};
  const auto curve = table(Table::layer_curve);
  REQUIRE(curve.size() == 4);
  CHECK(names(curve[0].removed) == std::vector<std::string>{"decoder.L0.H2", "decoder.L0.H3"});
  CHECK((curve[1].spec.heads_removed == 6 && curve[1].fraction == 1));
}
