#include "report/groups.h"

#include <cmath>

#include "report/fixture.h"
#include "support/catch.h"

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

TEST_CASE("several seeds give the mean and Student's t interval", "[groups]") {
  const Record record = two_seeds();
  const std::optional<PointGroup> base = base_group(record);
  REQUIRE(base);
  const MetricSummary& metric = base->metrics.front();
  // 0.9 and 0.8: mean 0.85, standard error 0.05.
  CHECK(metric.estimate.value == Approx(0.85));
  CHECK(*metric.estimate.stderr_ == Approx(0.05));
  CHECK((*metric.estimate.ci95)[0] == Approx(0.85 - kT1 * 0.05));
  CHECK((*metric.estimate.ci95)[1] == Approx(0.85 + kT1 * 0.05));
  CHECK(metric.over == "seeds");
  CHECK(metric.estimate.n == 100);
  CHECK_FALSE(metric.difference);
}

TEST_CASE("two seeds cannot give a test", "[groups]") {
  const Record record = two_seeds();
  const std::vector<CurveGroup> groups = curve_groups(record);
  const MetricSummary& metric = *curve_of(groups, "gradient_l1").points[2].metric("accuracy");
  CHECK(metric.difference->delta == Approx(-0.35));
  CHECK(metric.difference->test == "none");
  CHECK_FALSE(metric.difference->p);
}

TEST_CASE("six seeds give a sign-flip test", "[groups]") {
  Record record;
  for (int64_t seed = 1; seed <= 6; ++seed) {
    const std::string id = std::to_string(seed);
    record.points[id] =
        point(id, sweep_spec(seed, "gradient_l1", 0, 2), {0.8, 0.5, -0.01 * static_cast<double>(seed), 1});
  }
  const std::vector<CurveGroup> groups = curve_groups(record);
  const MetricSummary& metric = groups.front().points.front().metrics.front();
  CHECK(metric.difference->test == "sign_flip");
  CHECK(*metric.difference->p == Approx(2.0 / 64.0));
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

TEST_CASE("draws of one seed give an interval over draws, unless they are one measurement", "[groups]") {
  const Record record = one_seed();
  const std::vector<CurveGroup> groups = curve_groups(record);
  const CurveGroup& random = curve_of(groups, "random");
  // 0.7 and 0.6: mean 0.65, standard error 0.05.
  const MetricSummary& half = *random.points[1].metric("accuracy");
  CHECK(half.over == "draws");
  CHECK(half.estimate.value == Approx(0.65));
  CHECK((*half.estimate.ci95)[0] == Approx(0.65 - kT1 * 0.05));
  CHECK(half.difference->test == "none");
  const MetricSummary& intact = *random.points[0].metric("accuracy");
  CHECK(intact.over == "examples");
  CHECK((*intact.estimate.ci95)[0] == Approx(0.88));
}

TEST_CASE("areas are hand-computed trapezoids, by seed", "[groups]") {
  const Record record = two_seeds();
  const std::vector<CurveGroup> groups = curve_groups(record);
  const std::vector<AreaSummary> areas = curve_areas(curve_of(groups, "gradient_l1"));
  REQUIRE(areas.size() == 2);
  const AreaSummary& area = areas.front();
  // Seed 1: (0.9 + 0.85) / 4 + (0.85 + 0.5) / 4 = 0.775; seed 2: (0.8 + 0.75) / 4 + (0.75 + 0.5) / 4 = 0.7.
  CHECK(area.metric == "accuracy");
  CHECK(area.seeds[0] == Approx(0.775));
  CHECK(area.seeds[1] == Approx(0.7));
  CHECK(area.estimate.value == Approx(0.7375));
  CHECK(*area.estimate.stderr_ == Approx(0.0375));
  CHECK((*area.estimate.ci95)[1] == Approx(0.7375 + kT1 * 0.0375));
  // Random: seed 1 (0.7 + 0.65) / 2, seed 2 (0.625 + 0.575) / 2.
  const std::vector<AreaSummary> control = curve_areas(curve_of(groups, "random"));
  CHECK(control.front().seeds[0] == Approx(0.675));
  CHECK(control.front().seeds[1] == Approx(0.6));
  CHECK(control.front().low == Approx(0.575));
  CHECK(control.front().high == Approx(0.7));
  CHECK(area_minus_random(area, control.front())->value == Approx(0.1));
}

TEST_CASE("curves that end at different fractions have no area", "[groups]") {
  Record record = two_seeds();
  record.points.erase("0000000000000004");  // gradient_l1, seed 1, all heads removed
  const std::vector<CurveGroup> groups = curve_groups(record);
  CHECK(curve_areas(curve_of(groups, "gradient_l1")).empty());
  CHECK(curve_areas(curve_of(groups, "random")).size() == 2);
}

TEST_CASE("an area is compared only with a control of the same seeds and range", "[groups]") {
  const Record both = two_seeds(), one = one_seed();
  const std::vector<CurveGroup> of_both = curve_groups(both), of_one = curve_groups(one);
  const std::vector<AreaSummary> area = curve_areas(curve_of(of_both, "gradient_l1"));
  CHECK_FALSE(area_minus_random(area.front(), curve_areas(curve_of(of_one, "random")).front()));
}

TEST_CASE("a head kept by all_but_one does not split its block's group", "[groups]") {
  const Record record = two_seeds();
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  REQUIRE(groups.size() == 8);
  CHECK(groups[0].first().spec.table == "leave_one_out");
  CHECK(sensitivity_unit(groups[0].first().spec) == "encoder.L0.H0");
  CHECK(groups[5].first().spec.table == "all_but_one");
  CHECK(sensitivity_unit(groups[5].first().spec) == "encoder.L1");
  CHECK(groups[5].members.size() == 2);
  CHECK(sensitivity_unit(groups[7].first().spec) == "encoder.L1");
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
