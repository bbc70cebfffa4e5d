// Sentences and labels where a run is not the usual one: they must hold there too.
#include <fmt/format.h>

#include <cmath>

#include "report/fixture.h"
#include "report/page/report.h"
#include "report/page/report_sections.h"
#include "report/tables/notes.h"
#include "report/tables/sensitivity_tables.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

ReportInput input_of(const Record& record) { return {record, agreement_rows(record), std::nullopt, "name: toy\n", {}}; }

std::string report_text(const Record& record) { return report_markdown(report_document(input_of(record)), record); }

}  // namespace

TEST_CASE("the best method is picked among those whose areas cover the same fractions", "[special]") {
  Record record = one_seed();
  std::vector<PointResult> more;
  for (const auto& [id, point] : record.points)
    if (point.spec.method == "gradient_l1" && point.spec.heads_removed != 4) more.push_back(point);
  for (PointResult& point : more) {  // as good, without the last point: a higher mean over fewer fractions
    point.point = "f" + point.point.substr(1);
    point.spec.method = "output_l2";
    record.points[point.point] = point;
  }
  const std::string came_out = summary_lines(input_of(record))[1];
  CHECK_THAT(came_out, ContainsSubstring(": gradient_l1 ") &&
                           ContainsSubstring("the best of 1 method (of 2, the others lack points)"));
}

TEST_CASE("what was asked is what heads went by, not what was scored", "[special]") {
  Record record = one_seed();
  const auto asked = [&] { return summary_lines(input_of(record))[0]; };
  CHECK_THAT(asked(), ContainsSubstring("in the order of gradient_l1, or at random"));
  // output_l2 is scored, and no point goes by it.
  CHECK_THAT(asked(), !ContainsSubstring("output_l2"));
  std::erase_if(record.points, [](const auto& entry) { return !entry.second.spec.method.empty(); });
  std::erase_if(record.started_points, [](const auto& entry) { return !entry.second.method.empty(); });
  PointSpec spec = sweep_spec(1, "", 0, 1);
  spec.draw.reset();
  spec.rule = "from_file";
  record.points["f1"] = point("f1", spec, {0.8, 0.5, -0.1, 0.01});
  record.started_points["f1"] = spec;
  CHECK_THAT(asked(), ContainsSubstring("in the order of a file.") && !ContainsSubstring("random"));
  // Nor has a curve of such an order an empty name.
  for (const std::string& line : summary_lines(input_of(record))) CHECK_THAT(line, !ContainsSubstring(":  "));
  CHECK_THAT(report_text(record), ContainsSubstring("| order from a file"));
}

TEST_CASE("a family that no lone change could star says so", "[special]") {
  Record record = one_seed();
  record.facts->bootstrap_iters = 200;
  std::vector<PointGroup> groups(6);
  std::vector<PointResult> points;
  for (int64_t i = 0; i < 6; ++i) {
    PointResult one = point(fmt::format("p{}", i), sweep_spec(1, "gradient_l1", 0, i + 1), {0.5, 0.5, -0.4, 2.0 / 201});
    one.mask = fmt::format("m{}", i);
    one.metrics[0].difference->test = "paired_bootstrap";
    points.push_back(one);
  }
  std::vector<const PointGroup*> family;
  for (size_t i = 0; i < 6; ++i) {
    groups[i].members = {&points[i]};
    MetricSummary summary;
    summary.name = "accuracy";
    summary.over = "examples";
    summary.estimate = points[i].metrics[0].estimate;
    summary.difference = points[i].metrics[0].difference;
    summary.q = 2.0 / 201;
    groups[i].metrics = {summary};
    family.push_back(&groups[i]);
  }
  const std::string note = power_note(record, {family}, "accuracy");
  CHECK_THAT(note, ContainsSubstring("no change that stood out alone could have a star") &&
                       ContainsSubstring("raise report.bootstrap_iters"));
  record.facts->bootstrap_iters = 10000;
  CHECK_THAT(power_note(record, {family}, "accuracy"), ContainsSubstring("needed about"));
}

TEST_CASE("a sweep of an earlier model says whose drop it tells", "[special]") {
  Record record = one_seed();
  add_earlier_sweep(record, 10);
  CHECK_THAT(summary_lines(input_of(record))[1],
             ContainsSubstring("the drop in accuracy (of the model after 10 training steps) stays within"));
}

TEST_CASE("one random order has no interval where another order would be another mask", "[special]") {
  Record record = one_seed();
  std::erase_if(record.points, [](const auto& entry) { return entry.second.spec.draw == 1; });
  for (const CurveGroup& curve : curve_groups(record))
    for (const PointGroup& point : curve.points) {
      CAPTURE(curve.method, point.first().spec.heads_removed);
      const bool known = curve.method != "random" || point.first().spec.heads_removed != 2;
      const MetricSummary& accuracy = *point.metric("accuracy");
      CHECK(accuracy.estimate.ci95.has_value() == known);
      CHECK(accuracy.difference->ci95.has_value() == known);
      CHECK(accuracy.difference->p.has_value() == known);
      CHECK((known || !accuracy.q));
    }
}

TEST_CASE("a table of one random order says so", "[special]") {
  Record record = one_seed();
  add_kind_curves(record);
  for (auto& [id, point] : record.points)
    if (point.spec.table == "kind_curve") point.spec.method = "random";
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  for (const SensitivityTable& table : sensitivity_tables(groups)) {
    CAPTURE(table.name);
    std::string notes;
    for (const std::string& note : table_notes(record, table, "accuracy")) notes += note;
    CHECK((notes.find("One random order") != std::string::npos) == (table.name == "kind_curve"));
  }
}

TEST_CASE("standard errors that are over different things are named by metric", "[special]") {
  MetricSummary one, other;
  one.name = "accuracy", other.name = "bleu";
  one.over = other.over = "examples";
  one.estimate = other.estimate = {.value = 0.5, .n = 100, .stderr_ = 0.1, .ci95 = {}, .interval = ""};
  CHECK(error_sentence({one, other}) == "± is one standard error, over 100 examples.");
  other.over = "seeds";
  other.seeds = {0.4, 0.6};
  CHECK_THAT(error_sentence({one, other}), ContainsSubstring("of accuracy over 100 examples, of bleu over 2 seeds"));
  one.estimate.stderr_.reset();
  CHECK_THAT(error_sentence({one}), ContainsSubstring("there is none"));
}

TEST_CASE("a mean agreement over some of the seeds says of how many", "[special]") {
  Record record = two_seeds();
  CHECK(report_text(record).find("(1 of 2)") == std::string::npos);
  for (auto& [key, score] : record.scores)
    if (key.seed == 2 && key.method == "gradient_l1")
      for (auto& [id, block] : score.blocks) block.scores.assign(block.scores.size(), 1.0);
  CHECK_THAT(report_text(record), ContainsSubstring("(1 of 2)"));
}

TEST_CASE("a figure of scores has the n of every block, and no word of a mean", "[special]") {
  Record record = one_seed();
  const auto drawn = [&] {
    std::string text;
    for (const Figure& figure : score_figures(record)) text += figure.document();
    return text;
  };
  CHECK_THAT(drawn(), ContainsSubstring("from n = 400 examples"));
  for (auto& [key, score] : record.scores) score.blocks.at({Kind::encoder, 0}).n = 17;
  CHECK_THAT(drawn(), ContainsSubstring("from n = 17 to 400 examples, by block"));
  CHECK(drawn().find("mean over") == std::string::npos);
}

TEST_CASE("the tolerance beside the largest difference is that of the same mask", "[special]") {
  Record record = one_seed();
  record.surgery = {{"a", {"a", 2e-5, 1e-5, false}}, {"b", {"b", 3e-5, 4e-5, true}}, {"c", {"c", 1e-6, 9e-5, true}}};
  SurgerySummary summary = surgery_summary(record);
  CHECK((summary.worst == 3e-5 && summary.tolerance == 4e-5 && summary.unequal == 1));
  record.surgery["b"].max_abs_diff = NAN;
  summary = surgery_summary(record);
  CHECK((std::isnan(summary.worst) && summary.tolerance == 4e-5));
  record.surgery = {{"a", {"a", 0, 1e-5, true}}};
  summary = surgery_summary(record);
  CHECK((summary.worst == 0 && summary.tolerance == 1e-5));
}

TEST_CASE("a bar of timing is compared with the intact form that was timed beside it", "[special]") {
  Record record = two_seeds();
  std::string twin;  // of the timed point, under seed 2
  for (const auto& [id, point] : record.points)
    if (point.spec == sweep_spec(2, "gradient_l1", 0, 2)) twin = id;
  REQUIRE_FALSE(twin.empty());
  record.timing[{twin, "intact", 3, 64}] = {twin, "intact", 3, 64, 2, {0.1, 0.1}};
  record.timing[{twin, "removed", 3, 64}] = {twin, "removed", 3, 64, 2, {0.02, 0.02}};
  std::string drawn;
  for (const Figure& figure : timing_figures(record)) drawn += figure.document();
  CHECK_THAT(drawn, ContainsSubstring("20 ms, 5.00x"));
}
