#include "prune/sensitivity.h"

#include "config/load.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

double later_first(const HeadId& head, const HeadSet&, int64_t) { return static_cast<double>(9 - head.head); }

SensitivityOptions options_of(std::vector<Table> tables) {
  SensitivityOptions options;
  options.tables = std::move(tables);
  return options;
}

/// Runs tables on blocks of 3, 1 and 0 heads.
struct Run {
  Blocks blocks = encoder_blocks({3, 1, 0});
  HeadsOnly model{blocks};
  NotingHost host{blocks, later_first};
  void operator()(const SensitivityOptions& options) { run_tables(options, input(), model, host); }
  RuleInput input() const { return sweep_input("", "", model, {{"entropy", 1}, {"random", 2}}); }
  RulePlan plan(const SensitivityOptions& options) const { return make_tables(options).front().rule->plan(input()); }
};

}  // namespace

TEST_CASE("leave_one_out removes each head alone, out of all heads of the model", "[prune]") {
  Run run;
  run(options_of({Table::leave_one_out}));
  REQUIRE(run.host.points.size() == 4);
  CHECK(run.plan(options_of({Table::leave_one_out})).points() == 4);
  const PlannedPoint& point = run.host.points[2];
  CHECK(point.spec == PointSpec{.seed = 4,
                                .method = "",
                                .draw = {},
                                .sweep = "",
                                .rule = "",
                                .table = "leave_one_out",
                                .kind = "encoder",
                                .layer = 0,
                                .head = 2,
                                .heads_removed = 1});
  CHECK(names(point.removed) == std::vector<std::string>{"encoder.L0.H2"});
  CHECK((point.heads_total == 4 && point.fraction == 0.25 && point.forward == 0 && point.scope.empty()));
  CHECK(names(run.host.points[3].removed) == std::vector<std::string>{"encoder.L1.H0"});
}

TEST_CASE("layer_removed removes all heads of one block", "[prune]") {
  Run run;
  run(options_of({Table::layer_removed}));
  REQUIRE(run.host.points.size() == 2);  // a block without heads has no point
  CHECK(run.host.points[0].removed.size() == 3);
  CHECK((run.host.points[0].heads_total == 3 && run.host.points[0].fraction == 1));
  CHECK((run.host.points[1].spec.layer == 1 && !run.host.points[1].spec.head));
}

TEST_CASE("all_but_one keeps the head that the select split likes best", "[prune]") {
  const auto kept_of = [](const std::vector<std::pair<double, double>>& by_kept_head) {
    Run run;
    run.host.select_value = [&](const HeadSet& mask) {
      for (int64_t head = 0; head < 3; ++head)
        if (!mask.contains(encoder_head(0, head)))
          return SelectValue{by_kept_head[static_cast<size_t>(head)].first,
                             by_kept_head[static_cast<size_t>(head)].second};
      return SelectValue{};
    };
    run(options_of({Table::all_but_one}));
    CHECK(run.host.calls == std::vector<std::string>{"select 3"});  // a block of one head has nothing to choose
    REQUIRE(run.host.points.size() == 2);
    const PlannedPoint &three = run.host.points[0], &one = run.host.points[1];
    CHECK((three.spec.heads_removed == 2 && three.removed.size() == 2 && three.heads_total == 3));
    CHECK((three.forward == 9 && three.backward == 0 && !three.spec.head));
    CHECK((one.removed.empty() && one.heads_total == 1 && one.fraction == 0));
    for (int64_t head = 0; head < 3; ++head)
      if (!three.removed.contains(encoder_head(0, head))) return head;
    return int64_t{-1};
  };
  CHECK(kept_of({{0.5, 1}, {0.9, 1}, {0.7, 0.1}}) == 1);
  CHECK(kept_of({{0.9, 0.4}, {0.5, 0.1}, {0.9, 0.3}}) == 2);  // the loss breaks a tie
  CHECK(kept_of({{0.9, 0.4}, {0.9, 0.4}, {0.1, 0.1}}) == 0);  // then the lower head
  const RulePlan plan = Run().plan(options_of({Table::all_but_one}));
  CHECK((plan.points() == 2 && plan.select_masks() == 3));
}

TEST_CASE("all_but_one asks again only for points that are missing, and chooses the same head", "[prune]") {
  const auto value = [](const HeadSet& mask) { return SelectValue{mask.contains(encoder_head(0, 1)) ? 0.0 : 1.0, 0}; };
  Run first, second;
  first.host.select_value = second.host.select_value = value;
  first.host.stop_after = 0;
  CHECK_THROWS_AS(first(options_of({Table::all_but_one})), Stopped);
  second(options_of({Table::all_but_one}));
  CHECK(names(second.host.points[0].removed) == std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H2"});
  Run third;
  third.host.known = second.host.points;
  third(options_of({Table::all_but_one}));
  CHECK(third.host.points.empty());
  CHECK(third.host.calls.empty());
}

TEST_CASE("layer_curve removes growing fractions inside one block for each method and draw", "[prune]") {
  Run run;
  SensitivityOptions options = options_of({Table::layer_curve});
  options.fractions = {0, 0.3, 0.4, 1};
  run(options);
  // Blocks of 3: 0, 1 (0.3 and 0.4 alike), 3. Of 1: 0 (0.3 and 0.4 alike), 1. Three curves each.
  REQUIRE(run.host.points.size() == 15);
  const RulePlan plan = run.plan(options);
  CHECK(plan.points() == 15);
  CHECK(plan.messages.size() == 3);
  const PlannedPoint& point = run.host.points[1];
  CHECK((point.spec.method == "entropy" && point.spec.draw == 0 && point.spec.layer == 0 && point.step == 1));
  CHECK(names(point.removed) == std::vector<std::string>{"encoder.L0.H2"});  // the lowest score of the block
  CHECK((point.heads_total == 3 && point.forward == 10 && point.backward == 20));
  CHECK((run.host.points[14].spec.method == "random" && run.host.points[14].spec.draw == 1));
}

TEST_CASE("kind_curve removes growing fractions of one kind, ranked across its layers", "[prune]") {
  // Heads of another kind have the lowest scores of all and stay.
  const Blocks blocks = {{{Kind::encoder, 0}, {0, 1}},
                         {{Kind::encoder, 1}, {0, 1}},
                         {{Kind::cross, 0}, {0, 1, 2}},
                         {{Kind::cross, 1}, {}}};
  HeadsOnly model{blocks};
  NotingHost host{blocks, [](const HeadId& head, const HeadSet&, int64_t) {
                    if (head.block.kind == Kind::cross) return static_cast<double>(-head.head);
                    return static_cast<double>(10 * (1 - head.block.layer) + head.head);
                  }};
  SensitivityOptions options = options_of({Table::kind_curve});
  options.fractions = {0.25, 1};
  const std::vector<MethodDraws> methods = {{"gradient_l1", 1}};
  run_tables(options, sweep_input("", "", model, methods), model, host);
  REQUIRE(host.points.size() == 4);
  CHECK(make_tables(options).front().rule->plan(sweep_input("", "", model, methods)).points() == 4);
  CHECK(host.points[0].spec == PointSpec{.seed = 4,
                                         .method = "gradient_l1",
                                         .draw = 0,
                                         .sweep = "",
                                         .rule = "",
                                         .table = "kind_curve",
                                         .kind = "encoder",
                                         .layer = {},
                                         .head = {},
                                         .heads_removed = 1});
  CHECK(names(host.points[0].removed) == std::vector<std::string>{"encoder.L1.H0"});
  CHECK((host.points[0].heads_total == 4 && host.points[0].fraction == 0.25));
  CHECK(host.points[1].removed.size() == 4);
  CHECK(names(host.points[2].removed) == std::vector<std::string>{"cross.L0.H2"});
  CHECK((host.points[2].heads_total == 3 && host.points[2].spec.kind == "cross"));
  CHECK((host.points[3].removed.size() == 3 && host.points[3].fraction == 1));
}

TEST_CASE("tables run in the order asked for, each once, and pass by points that are done", "[prune]") {
  Run whole, rest;
  whole.host.select_value = rest.host.select_value = [](const HeadSet&) { return SelectValue{}; };
  const SensitivityOptions options = options_of(
      {Table::layer_removed, Table::leave_one_out, Table::all_but_one, Table::layer_removed, Table::layer_curve});
  whole(options);
  CHECK(whole.host.points[0].spec.table == "layer_removed");
  CHECK(whole.host.points[2].spec.table == "leave_one_out");
  std::vector<PlannedPoint> listed;  // before anything runs
  for (const NamedTable& table : make_tables(options))
    for (PlannedPoint& point : planned(*table.rule, whole.input())) listed.push_back(std::move(point));
  REQUIRE(listed.size() == whole.host.points.size());
  for (size_t i = 0; i < listed.size(); ++i) CHECK(listed[i].spec == whole.host.points[i].spec);
  rest.host.known.assign(whole.host.points.begin(), whole.host.points.begin() + 5);
  rest(options);
  REQUIRE(rest.host.points.size() == whole.host.points.size() - 5);
  for (size_t i = 0; i < rest.host.points.size(); ++i) CHECK(rest.host.points[i].spec == whole.host.points[i + 5].spec);
}

TEST_CASE("no table is asked for unless named, and options are checked", "[prune]") {
  struct Holder {
    SensitivityOptions sensitivity;
    void fields(FieldList& v) { v("sensitivity", sensitivity, "tables"); }
  };
  const auto load = [](const std::string& yaml) {
    return load_config<Holder>(ConfigText{"test.yaml", yaml, "."}).value.sensitivity;
  };
  CHECK(load("sensitivity: {}\n").tables.empty());
  CHECK((load("sensitivity: {tables: [all_but_one]}\n").tables == std::vector<Table>{Table::all_but_one}));
  CHECK_THROWS_AS(load("sensitivity: {tables: [all]}\n"), ConfigError);
  CHECK_THROWS_AS(load("sensitivity: {fractions: [2]}\n"), ConfigError);
}
