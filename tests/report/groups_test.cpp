#include <fmt/format.h>

#include <cmath>

#include "report/fixture.h"
#include "report/numbers/areas.h"
#include "report/numbers/keyed_metrics.h"
#include "report/numbers/sweeps.h"
#include "report/tables/notes.h"
#include "report/tables/sweep_rows.h"
#include "stats/tests.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

constexpr double kT1 = 12.706204736432095;  // scipy.stats.t.ppf(0.975, 1)

const CurveGroup& curve_of(const std::vector<CurveGroup>& curves, const std::string& method) {
  for (const CurveGroup& curve : curves) {
    if (curve.method == method) return curve;
  }
  FAIL("no curve of " << method);
  return curves.front();
}

}  // namespace

TEST_CASE("one point keeps its own estimate over examples", "[groups]") {
  const Record record = one_seed();
  const std::vector<CurveGroup> groups = curve_groups(record);
  const MetricSummary& metric = *curve_of(groups, "gradient_l1").points[1].metric("accuracy");
  CHECK(metric.over == "examples");
  CHECK(metric.estimate.interval == "normal");
  CHECK(metric.estimate.n == 100);
  CHECK(metric.difference->test == "mcnemar");
  CHECK(*metric.difference->p == 0.01);
  CHECK(metric.seeds == std::vector<double>{metric.estimate.value});
}

TEST_CASE("several seeds without values by example give Student's interval, in the metric's range", "[groups]") {
  const Record record = two_seeds();
  const std::optional<PointGroup> base = base_group(record);
  REQUIRE(base);
  const MetricSummary& metric = base->metrics.front();
  // 0.9 and 0.8: mean 0.85, standard error 0.05; t(1) would reach from 0.215 to 1.485.
  CHECK(metric.estimate.value == Approx(0.85));
  CHECK(*metric.estimate.stderr_ == Approx(0.05));
  CHECK((*metric.estimate.ci95)[0] > 0);
  CHECK((*metric.estimate.ci95)[0] < 0.85 - kT1 * 0.02);
  CHECK((*metric.estimate.ci95)[1] < 1);
  CHECK(metric.estimate.interval == "t");
  CHECK(metric.over == "seeds");
  CHECK(metric.estimate.n == 100);
  CHECK_FALSE(metric.difference);
}

TEST_CASE("several seeds with values by example have both sources of uncertainty", "[groups]") {
  const TestFolder folder;
  Record record = two_seeds();
  store_examples(record, folder.path());
  const MetricSummary metric = *base_metric(record, "accuracy");
  REQUIRE(metric.parts);
  CHECK(metric.parts->repetition_variance == Approx(0.05 * 0.05));
  // Seed 1 is right on 3 ... 92, seed 2 on 6 ... 85: v, r and the part of the examples by hand in numpy.
  CHECK(metric.parts->example_variance == Approx(0.00080808081).epsilon(1e-4));
  CHECK(metric.estimate.interval == "crossed");
  CHECK(metric.seeds == std::vector<double>{0.9, 0.8});
  CHECK_THAT(over_text(metric), ContainsSubstring("over 2 seeds and 100 examples"));
}

TEST_CASE("seeds that share one model are one measurement, and their random orders are pooled", "[groups]") {
  const TestFolder folder;
  Record record = one_model_two_seeds();
  store_examples(record, folder.path());
  for (auto& [id, point] : record.points)  // the same model gives the same answers
    if (point.spec.seed == 2 && point.spec.method != "random")
      for (const auto& [other, twin] : record.points)
        if (other.substr(1) == id.substr(1) && twin.spec.seed == 1) point.examples_sha256 = twin.examples_sha256;
  const MetricSummary base = *base_metric(record, "accuracy");
  CHECK(base.over == "examples");
  CHECK(base.estimate.interval == "normal");  // as of one seed
  CHECK_THAT(seeds_sentence(record, base), ContainsSubstring("change nothing but random orders"));
  const std::vector<CurveGroup> groups = curve_groups(record);
  const MetricSummary& half = *curve_of(groups, "random").points[1].metric("accuracy");
  CHECK(half.over == "orders");
  CHECK(half.parts->repetitions == 4);
  const std::vector<AreaSummary> area = curve_areas(record, curve_of(groups, "gradient_l1")),
                                 random = curve_areas(record, curve_of(groups, "random"));
  CHECK(against_random(record, area.front(), random.front())->orders == 4);
}

TEST_CASE("stars come from q over the curve, never from an interval alone", "[groups]") {
  Record record = one_seed();
  // 5 of 1000 lost, none gained: a Wald interval leaves out 0, the exact p is 0.0625.
  for (auto& [id, point] : record.points)
    if (point.spec.method == "gradient_l1" && point.spec.heads_removed == 2)
      point.metrics[0].difference = paired_accuracy_difference(0, 5, 1000);
  const std::vector<CurveGroup> groups = curve_groups(record);
  const CurveGroup& curve = curve_of(groups, "gradient_l1");
  CHECK_FALSE(curve.points[1].metric("accuracy")->significant());
  CHECK(*curve.points[1].metric("accuracy")->q == Approx(0.0625));  // the larger of two
  CHECK(*curve.points[2].metric("accuracy")->q == Approx(0.0002));  // 0.0001 of two points
  CHECK(curve.points[2].metric("accuracy")->significant());
  CHECK_FALSE(curve.points[0].metric("accuracy")->q);  // nothing removed
  const TextRows rows = sweep_rows(sweeps_of(record).front(), "accuracy");
  CHECK(rows[2][2].find('*') == std::string::npos);
  CHECK(rows[3][2].find('*') != std::string::npos);
}

TEST_CASE("the family of q is the printed table, and equal masks count once", "[groups]") {
  Record record = one_seed();
  // p of the four heads: 1, 0.001, 0.02, 1.
  std::vector<PointGroup> groups = sensitivity_groups(record);
  CHECK(*groups[1].metric("accuracy")->q == Approx(0.004));
  CHECK(*groups[2].metric("accuracy")->q == Approx(0.04));
  // The tables have families of their own: 0.04 twice stays 0.04 beside a table of four.
  for (const PointGroup& group : groups)
    if (group.first().spec.table == "layer_removed") CHECK(*group.metric("accuracy")->q == Approx(0.04));
  for (auto& [id, point] : record.points) {
    if (point.spec.table != "leave_one_out" || point.spec.layer != 1 || point.spec.head != 1) continue;
    point.metrics[0].difference->p = 0.001;
    point.mask = "mask-1-encoder-0-1";  // as if it were the second head again
  }
  groups = sensitivity_groups(record);
  CHECK(*groups[1].metric("accuracy")->q == Approx(0.003));  // of three, not of four
  CHECK(*groups[3].metric("accuracy")->q == Approx(0.003));
}

TEST_CASE("single heads of models trained from different seeds stand apart", "[groups]") {
  const Record record = two_seeds();
  REQUIRE_FALSE(heads_shared_by_seeds(record));
  int64_t of_heads = 0;
  for (const PointGroup& group : sensitivity_groups(record)) {
    if (group.first().spec.table != "leave_one_out") {
      CHECK_FALSE(group.seed);
      continue;
    }
    ++of_heads;
    CHECK(group.members.size() == 1);
    CHECK(group.seed == group.first().spec.seed);
  }
  CHECK(of_heads == 8);
  Record shared = record;
  shared.facts->seeds_differ_in = SeedsDifferIn::fine_tuning;
  CHECK(heads_shared_by_seeds(shared));
  CHECK(sensitivity_groups(shared).front().members.size() == 2);
}

TEST_CASE("masks listed by hand are rows of their own under their names, not draws of one point", "[groups]") {
  Record record = one_seed();
  const auto add = [&](const std::string& name, double accuracy, int64_t step) {
    PointSpec spec = sweep_spec(1, "", 0, 1);
    spec.draw.reset();
    spec.sweep = "mine";
    spec.rule = "from_file";
    spec.name = name;
    spec.mask = "m" + name;
    PointResult one = point("f" + name, spec, {accuracy, 0.5, accuracy - 0.9, 0.01});
    one.step = step;
    one.mask = spec.mask;
    record.points[one.point] = one;
  };
  add("first", 0.403, 0);
  add("b", 0.238, 1);
  add("a", 0.568, 2);
  const std::vector<MaskList> lists = mask_lists(record);
  REQUIRE(lists.size() == 1);
  REQUIRE(lists[0].points.size() == 3);
  CHECK(lists[0].points[0].first().spec.name == "first");
  CHECK(lists[0].points[1].metric("accuracy")->estimate.value == Approx(0.238));
  CHECK(lists[0].points[2].members.size() == 1);
  const TextRows rows = mask_rows(lists[0], "accuracy");
  CHECK(rows[3][0] == "a");
  CHECK(rows[3][1] == "3");
  for (const CurveGroup& curve : curve_groups(record)) CHECK(curve.sweep != "mine");
}

TEST_CASE("masks and orders from a file stand by seed where seeds are other models", "[groups]") {
  const auto add = [](Record& record, int64_t seed, const std::string& name, double accuracy) {
    PointSpec spec = sweep_spec(seed, "", 0, 1);
    spec.draw.reset();
    spec.sweep = name.empty() ? "order" : "mine";
    spec.rule = "from_file";
    spec.name = name;
    const std::string id = fmt::format("f{}{}", seed, name);
    record.points[id] = point(id, spec, {accuracy, 0.5, accuracy - 0.9, 0.01});
  };
  Record trained = two_seeds(), loaded = one_model_two_seeds();
  for (Record* record : {&trained, &loaded})
    for (const int64_t seed : {1, 2})
      for (const char* name : {"", "A"}) add(*record, seed, name, seed == 1 ? 0.6 : 0.4);
  const std::vector<MaskList> apart = mask_lists(trained);
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].points[0].metric("accuracy")->estimate.value == Approx(0.6));
  CHECK(apart[1].points[0].metric("accuracy")->estimate.value == Approx(0.4));
  CHECK(mask_title(apart[1]) == "Masks of mine, seed 2");
  CHECK(mask_lists(loaded).size() == 1);
  const auto names = [](const Record& record) {
    std::vector<std::string> all;
    for (const CurveGroup& curve : curve_groups(record))
      if (curve.rule == "from_file") all.push_back(curve.name());
    return all;
  };
  CHECK(names(trained) == std::vector<std::string>{"order from a file, seed 1", "order from a file, seed 2"});
  CHECK(names(loaded) == std::vector<std::string>{"order from a file"});
  // No key of one seed's heads pairs with another run's.
  for (const auto& [key, metric] : keyed_metrics(trained, {})) {
    if (key.find("/mine/") == std::string::npos && key.find("/order/") == std::string::npos) continue;
    INFO(key);
    CHECK(metric.of_head);
    CHECK_THAT(key, ContainsSubstring("/seed_"));
  }
}

TEST_CASE("one random order has no range", "[groups]") {
  Record record = one_seed();
  std::erase_if(record.points, [](const auto& entry) { return entry.second.spec.draw == 1; });
  for (const std::vector<std::string>& row : sweep_rows(sweeps_of(record).front(), "accuracy")) {
    INFO(row.back());
    CHECK_THAT(row.back(), !ContainsSubstring("["));
  }
}

TEST_CASE("the intact model trained as long stands beside points that the first method lacks", "[groups]") {
  Record record = one_seed();
  PointSpec control;
  control.seed = 1;
  control.sweep = control.rule = "one_shot";
  control.control_steps = 40;
  PointResult trained = point("c1", control, {0.93, 0.4, 0.03, 0.5});
  trained.step = 1;
  record.points["c1"] = trained;
  record.points.erase("0000000000000003");  // gradient_l1 at half failed; random has that row
  const TextRows rows = sweep_rows(sweeps_of(record).front(), "accuracy");
  REQUIRE(rows[0].back() == "intact, trained");
  CHECK_THAT(rows[2].back(), ContainsSubstring("0.93"));
  CHECK(rows[1].back() == "-");
}

TEST_CASE("draws are averaged within a seed first", "[groups]") {
  const Record record = two_seeds();
  const std::vector<CurveGroup> groups = curve_groups(record);
  const MetricSummary& metric = *curve_of(groups, "random").points[1].metric("accuracy");
  REQUIRE(metric.seeds.size() == 2);
  CHECK(metric.seeds[0] == Approx(0.65));
  CHECK(metric.seeds[1] == Approx(0.55));
  CHECK(metric.estimate.value == Approx(0.6));
  CHECK(metric.draws == 2);
  CHECK(metric.low == Approx(0.5));
  CHECK(metric.high == Approx(0.7));
}

TEST_CASE("draws of one seed are orders, unless they are one measurement", "[groups]") {
  const Record record = one_seed();
  const std::vector<CurveGroup> groups = curve_groups(record);
  const CurveGroup& random = curve_of(groups, "random");
  // 0.7 and 0.6: mean 0.65, standard error 0.05.
  const MetricSummary& half = *random.points[1].metric("accuracy");
  CHECK(half.over == "orders");
  CHECK(half.estimate.value == Approx(0.65));
  CHECK(*half.estimate.stderr_ == Approx(0.05));
  const MetricSummary& intact = *random.points[0].metric("accuracy");
  CHECK(intact.over == "examples");
  CHECK((*intact.estimate.ci95)[0] == Approx(0.88));
}

TEST_CASE("areas are hand-computed trapezoids, by seed", "[groups]") {
  const Record record = two_seeds();
  const std::vector<CurveGroup> groups = curve_groups(record);
  const std::vector<AreaSummary> areas = curve_areas(record, curve_of(groups, "gradient_l1"));
  REQUIRE(areas.size() == 2);
  const AreaSummary& area = areas.front();
  // Seed 1: (0.9 + 0.85) / 4 + (0.85 + 0.5) / 4 = 0.775; seed 2: (0.8 + 0.75) / 4 + (0.75 + 0.5) / 4 = 0.7.
  CHECK(area.metric == "accuracy");
  CHECK(area.repetitions.seeds[0] == Approx(0.775));
  CHECK(area.repetitions.seeds[1] == Approx(0.7));
  CHECK(area.estimate.value == Approx(0.7375));
  CHECK(*area.estimate.stderr_ == Approx(0.0375));
  CHECK((*area.estimate.ci95)[1] < 1);
  // Random: seed 1 (0.7 + 0.65) / 2, seed 2 (0.625 + 0.575) / 2.
  const std::vector<AreaSummary> control = curve_areas(record, curve_of(groups, "random"));
  CHECK(control.front().repetitions.seeds[0] == Approx(0.675));
  CHECK(control.front().repetitions.seeds[1] == Approx(0.6));
  CHECK(control.front().low == Approx(0.575));
  CHECK(control.front().high == Approx(0.7));
  const AgainstRandom against = *against_random(record, area, control.front());
  CHECK(against.difference.delta == Approx(0.1));
  // Orders over the seeds: (0.7 + 0.625) / 2 and (0.65 + 0.575) / 2, both below 0.7375.
  CHECK((against.orders == 2 && against.as_good == 0));
  CHECK(against.p == Approx(1.0 / 3));
}

TEST_CASE("an area of one seed has the examples' interval", "[groups]") {
  const TestFolder folder;
  Record record = one_seed();
  store_examples(record, folder.path());
  const std::vector<CurveGroup> groups = curve_groups(record);
  const AreaSummary area = curve_areas(record, curve_of(groups, "gradient_l1")).front();
  // Each example's own area: 1 for 50 of them, 0.75 for 35, 0.25 for 5, 0 for 10: mean 0.775, standard error 0.0316.
  CHECK(area.estimate.value == Approx(0.775));
  CHECK(*area.estimate.stderr_ == Approx(0.03168261).epsilon(1e-4));
  CHECK((*area.estimate.ci95)[0] == Approx(0.70734).margin(0.0005));
  CHECK((*area.estimate.ci95)[1] == Approx(0.83137).margin(0.0005));
}

TEST_CASE("less random holds neither the examples nor the orders fixed", "[groups]") {
  const TestFolder folder;
  Record record = one_seed();
  for (int64_t draw = 2; draw < 5; ++draw)  // areas 0.7, 0.65 and three of 0.6, 0.65, 0.8: one beats the method
    for (const int64_t removed : {0, 2, 4}) {
      const double half = draw == 2 ? 0.5 : draw == 3 ? 0.6 : 0.9;
      const double accuracy = removed == 0 ? 0.9 : removed == 2 ? half : 0.5;
      const std::string id = fmt::format("a{}{}", draw, removed);
      record.points[id] = point(id, sweep_spec(1, "random", draw, removed), {accuracy, 0.5, accuracy - 0.9, 0.01});
    }
  store_examples(record, folder.path());
  const std::vector<CurveGroup> groups = curve_groups(record);
  const AreaSummary area = curve_areas(record, curve_of(groups, "gradient_l1")).front(),
                    random = curve_areas(record, curve_of(groups, "random")).front();
  const AgainstRandom against = *against_random(record, area, random);
  CHECK(against.difference.delta == Approx(0.775 - 0.68));
  CHECK((against.orders == 5 && against.as_good == 1));
  CHECK(against.p == Approx(2.0 / 6));
  // Five orders spread by 0.0758 around their mean: t(4) 2.776 times 0.0339 alone is 0.094.
  CHECK((*against.difference.ci95)[0] < 0.002);
  CHECK_FALSE(against.difference.p);
  CHECK_THAT(rank_text(against), ContainsSubstring("1 of 5 random orders at least as good, p = 0.333") &&
                                     ContainsSubstring("takes 20 orders"));
  CHECK_THAT(rank_text(against, 4), ContainsSubstring("p = 0.333, 1 for the best of 4 (Bonferroni)"));
}

TEST_CASE("curves that end at different fractions have no area", "[groups]") {
  Record record = two_seeds();
  record.points.erase("0000000000000004");  // gradient_l1, seed 1, all heads removed
  const std::vector<CurveGroup> groups = curve_groups(record);
  CHECK(curve_areas(record, curve_of(groups, "gradient_l1")).empty());
  CHECK(curve_areas(record, curve_of(groups, "random")).size() == 2);
}

TEST_CASE("an area is compared only with a control of the same seeds and range", "[groups]") {
  const Record both = two_seeds(), one = one_seed();
  const std::vector<CurveGroup> of_both = curve_groups(both), of_one = curve_groups(one);
  const std::vector<AreaSummary> area = curve_areas(both, curve_of(of_both, "gradient_l1"));
  CHECK_FALSE(against_random(both, area.front(), curve_areas(one, curve_of(of_one, "random")).front()));
}

TEST_CASE("a head kept by all_but_one does not split its block's group", "[groups]") {
  const Record record = two_seeds();
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  REQUIRE(groups.size() == 12);  // four heads of each seed, two blocks of either table
  CHECK(groups[0].first().spec.table == "leave_one_out");
  CHECK(sensitivity_unit(groups[0].first().spec) == "encoder.L0.H0");
  CHECK(groups[9].first().spec.table == "all_but_one");
  CHECK(sensitivity_unit(groups[9].first().spec) == "encoder.L1");
  CHECK(groups[9].members.size() == 2);
  CHECK(sensitivity_unit(groups[11].first().spec) == "encoder.L1");
}

TEST_CASE("groups follow the order of the configuration", "[groups]") {
  Record record = two_seeds();
  record.facts->methods = {{"random", "random", 2}, {"gradient_l1", "gradient_l1", 1}};
  record.facts->tables = {"layer_removed", "leave_one_out"};
  CHECK(curve_groups(record).front().method == "random");
  CHECK(sensitivity_groups(record).front().first().spec.table == "layer_removed");
  CHECK(sensitivity_groups(record).back().first().spec.table == "all_but_one");
}

TEST_CASE("the control is known by its plug-in, whatever its label", "[groups]") {
  Record record = two_seeds();
  record.facts->methods = {{"control", "random", 2}, {"random", "gradient_l1", 1}};
  CHECK(is_random(record, "control"));
  CHECK_FALSE(is_random(record, "random"));
  record.facts.reset();
  CHECK(is_random(record, "random"));
}
