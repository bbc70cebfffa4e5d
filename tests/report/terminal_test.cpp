#include "report/page/terminal.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/approved.h"
#include "report/fixture.h"
#include "report/tables/sensitivity_tables.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

size_t widest_line(const std::string& text) {
  size_t widest = 0;
  for (const std::string_view line : split(text, '\n')) widest = std::max(widest, display_width(line));
  return widest;
}

/// Two more methods, so that the table of a sweep is too wide for 80 columns.
Record many_methods() {
  Record record = one_seed();
  for (const std::string label : {"entropy", "output_l2"}) {
    std::vector<PointResult> added;
    for (const auto& [id, point] : record.points) {
      if (point.spec.method == "gradient_l1") added.push_back(point);
    }
    for (PointResult& point : added) {
      point.spec.method = label;
      point.point = label + point.point;
      record.points[point.point] = point;
    }
  }
  record.facts->methods.push_back({"entropy", "entropy", 1});
  return record;
}

}  // namespace

TEST_CASE("the summary of one seed reads as approved", "[terminal]") {
  check_approved("one_seed", terminal_summary(one_seed(), {80, false, "runs/toy"}));
}

TEST_CASE("the summary of two seeds reads as approved", "[terminal]") {
  check_approved("two_seeds", terminal_summary(two_seeds(), {100, false, "runs/toy"}));
}

TEST_CASE("an unfinished run is marked PARTIAL and shows what there is", "[terminal]") {
  Record record = one_seed();
  record.done.reset();
  record.interrupted = InterruptedEvent{"SIGTERM", "prune"};
  record.timing.clear();
  record.surgery.clear();
  record.failed["0000000000000005"] = {"0000000000000005", "error", "the evaluation of this point failed"};
  std::erase_if(record.points, [](const auto& entry) {
    return !entry.second.spec.table.empty() || entry.second.spec.heads_removed == 4 ||
           entry.second.spec.method == "random";
  });
  check_approved("partial", terminal_summary(record, {80, false, "runs/toy"}));
}

TEST_CASE("lines stay within the width, however many methods there are", "[terminal]") {
  const Record record = many_methods();
  for (const size_t width : {80, 100}) {
    CHECK(widest_line(terminal_summary(record, {width, false, "runs/toy"})) <= width);
  }
  check_approved("many_methods", sweeps_text(record, {80, false, ""}));
}

TEST_CASE("colour is the only difference that a terminal makes", "[terminal]") {
  std::string text = terminal_summary(one_seed(), {80, true, "runs/toy"});
  CHECK_THAT(text, ContainsSubstring("\x1b["));
  for (size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at)) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  CHECK(text == terminal_summary(one_seed(), {80, false, "runs/toy"}));
}

TEST_CASE("a record without anything still gives a summary", "[terminal]") {
  CHECK(terminal_summary(Record(), {80, false, "runs/x"}) ==
        "Run, state: queued\n\nUnpruned model: not evaluated yet\n\nResults: runs/x\n");
}

TEST_CASE("for a metric where lower is better the sign is explained the other way round", "[terminal]") {
  Record record = one_seed();
  record.facts->metrics = {loss_fact(), accuracy_fact()};
  const std::string text = sensitivity_text(record, {80, false, ""});
  CHECK_THAT(text, ContainsSubstring("Positive numbers: loss rises without these heads"));
  CHECK_THAT(text, ContainsSubstring("No test was possible, so nothing is starred."));
}

TEST_CASE("kinds stand in their order, and what one fraction of the configuration gave in one column", "[terminal]") {
  Record record;
  add_kind_curves(record);
  const auto rows_of = [](const Record& from) {
    const std::vector<PointGroup> groups = sensitivity_groups(from);
    return sensitivity_rows(sensitivity_tables(groups).front(), "accuracy");
  };
  CHECK(rows_of(record) == TextRows{{"", "0.25 to 0.2667 ", "0.5 to 0.5333 "},
                                    {"encoder", "-0.100 ", "-0.200 "},
                                    {"decoder", "-0.100 ", "-0.200 "},
                                    {"cross", "-0.100 ", "-0.200 "}});
  // One kind has fewer points, so nothing says which of them belong together.
  record.points.erase("cross0");
  CHECK(rows_of(record) == TextRows{{"", "0.25 ", "0.5 ", "0.5333 "},
                                    {"encoder", "-0.100 ", "-0.200 ", ""},
                                    {"decoder", "-0.100 ", "-0.200 ", ""},
                                    {"cross", "", "", "-0.200 "}});
}

TEST_CASE("a translation says how its metrics were computed and that timed texts are equally long", "[terminal]") {
  Record record = one_seed();
  record.facts->metrics[0].signature = "nrefs:1|case:mixed";
  record.facts->blocks.push_back({{Kind::cross, 0}, {0}});
  record.facts = RunFacts::from_json(record.facts->to_json());
  const std::string text = terminal_summary(record, {200, false, ""});
  CHECK_THAT(text, ContainsSubstring("\n  accuracy: nrefs:1|case:mixed\n"));
  CHECK_THAT(text, ContainsSubstring("expected of them. Source and target have this length alike.\n"));
}

TEST_CASE("random orders are tested as a sample of orders", "[terminal]") {
  Record record = one_seed();
  record.points.clear();
  for (int64_t draw = 0; draw < 2; ++draw) {
    for (int64_t removed = 1; removed <= 2; ++removed) {
      PointSpec spec;
      spec.seed = 1;
      spec.table = "layer_curve";
      spec.method = "random";
      spec.draw = draw;
      spec.kind = "encoder";
      spec.layer = 0;
      spec.heads_removed = removed;
      const std::string id = std::to_string(10 * draw + removed);
      record.points[id] = point(id, spec, {0.5, 1, -0.4, removed == 2 || draw == 1 ? 0.001 : 0.9});
      record.points[id].fraction = 0.5 * static_cast<double>(removed);
      record.points[id].removed = HeadSet({{{Kind::encoder, 0}, draw}});
    }
  }
  // Two orders that agree to the last digit, without values by example: nothing says how much others would differ.
  CHECK_THAT(sensitivity_text(record, {200, false, ""}),
             ContainsSubstring("                 0.5        1\n  encoder.L0  -0.400   -0.400\n"
                               "  No test was possible, so nothing is starred.\n"));
  for (auto& [id, point] : record.points)
    if (point.spec.draw == 1) point.metrics[0].difference->delta = -0.401;
  CHECK_THAT(
      sensitivity_text(record, {200, false, ""}),
      ContainsSubstring("  encoder.L0  -0.401*  -0.401*\n  * 2 of 2: q < 0.05 against the unpruned model (t test "
                        "over seeds (or orders) alone, Benjamini-Hochberg over the table).\n"));
}

TEST_CASE("unequal surgery is said aloud", "[terminal]") {
  Record record = one_seed();
  SurgeryResult& surgery = record.surgery.begin()->second;
  surgery.max_abs_diff = std::nan("");
  surgery.ok = false;
  CHECK_THAT(terminal_summary(record, {80, false, ""}),
             ContainsSubstring("largest difference of any logit nan, tolerance 1e-05: NOT EQUAL for 1"));
}
