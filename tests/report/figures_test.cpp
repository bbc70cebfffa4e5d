#include "report/page/figures.h"

#include <limits>

#include "report/draw/bar_chart.h"
#include "report/draw/curve_lines.h"
#include "report/draw/heat_map.h"
#include "report/draw/line_chart.h"
#include "report/fixture.h"
#include "report/tables/sweep_rows.h"
#include "support/catch.h"
#include "support/xml.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string drawn(const Svg& svg) {
  const std::string text = svg.document("alt");
  CHECK(xml_problem(text) == "");
  return text;
}

}  // namespace

TEST_CASE("the checker of XML tells good from bad", "[figures]") {
  CHECK(xml_problem("<?xml version=\"1.0\"?>\n<a b=\"c\"><d/>x &amp; y</a>\n") == "");
  for (const char* bad :
       {"<a>", "<a></b>", "<a b=c/>", "<a>&nbsp;</a>", "<a/><b/>", "x", "<a b=\"<\"/>", "<a>1 < 2</a>"}) {
    INFO(bad);
    CHECK(xml_problem(bad) != "");
  }
}

TEST_CASE("every figure of a run is well-formed and says what it shows", "[figures]") {
  const Record record = two_seeds();
  std::vector<Figure> all = curve_figures(record);
  const auto add = [&](std::vector<Figure> more) { all.insert(all.end(), more.begin(), more.end()); };
  add(sensitivity_figures(record));
  add(score_figures(record));
  add(agreement_figures(agreement_rows(record)));
  add(timing_figures(record));
  add(training_figures({{"", 1, 1, 10, 0.5, "train", "loss", 0.7}, {"", 1, 1, 20, 1, "train", "loss", 0.4}}));
  std::vector<std::string> names;
  for (const Figure& figure : all) {
    INFO(figure.file);
    CHECK(xml_problem(figure.document()) == "");
    CHECK_FALSE(figure.alt.empty());
    names.push_back(figure.file);
  }
  CHECK(names == std::vector<std::string>{"curve-accuracy.svg", "curve-loss.svg", "sensitivity-accuracy.svg",
                                          "sensitivity-loss.svg", "scores-gradient_l1.svg", "scores-output_l2.svg",
                                          "agreement.svg", "timing.svg", "train-loss.svg"});
}

TEST_CASE("a curve figure has units, n, the band, and says that a split is shared", "[figures]") {
  Record record = two_seeds();
  record.facts->shared_splits = {{"select", "report"}};
  const std::string text = curve_figures(record)[0].document();
  CHECK_THAT(text, ContainsSubstring("heads removed (%)"));
  CHECK_THAT(text, ContainsSubstring("accuracy, report split, n = 100 examples, 2 seeds (same data as select)"));
  CHECK_THAT(text, ContainsSubstring("random: mean, smallest to largest of 2 orders x 2 seeds"));
  CHECK(times(text, "class=\"band\"") == 2);  // the polygon and its sign in the legend
  // gradient_l1 at half: 0.85 and 0.75.
  CHECK_THAT(text, ContainsSubstring("gradient_l1, 50 % removed (2 of 4 heads): accuracy 0.800 ["));
}

TEST_CASE("a sweep at several training steps is a family of lines, and each is a share of its own model", "[figures]") {
  Record record = one_seed();
  CHECK(step_figures(record).empty());
  add_earlier_sweep(record, 10);
  const std::vector<Figure> figures = step_figures(record);
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].file == "steps-accuracy.svg");
  CHECK(figures[0].panels.size() == 2);
  const std::string text = figures[0].document();
  CHECK(xml_problem(text) == "");
  CHECK_THAT(text, ContainsSubstring("step 10, 50 % removed (2 of 4 heads): accuracy 0.580 ["));
  CHECK_THAT(text, ContainsSubstring("step 10: 96.7 % of 0.600"));          // 0.58 / 0.6
  CHECK_THAT(text, ContainsSubstring("end of training: 94.4 % of 0.900"));  // 0.85 / 0.9
  CHECK(times(text, "<polyline") == 4);
}

TEST_CASE("kinds are lines of one panel, blocks those of a panel a kind", "[figures]") {
  Record record = one_seed();
  CHECK(table_curve_figures(record).empty());
  add_kind_curves(record);
  std::vector<PointResult> blocks;
  for (const auto& [id, point] : record.points) {
    if (point.spec.table != "kind_curve") continue;
    for (int64_t layer = 0; layer < 2; ++layer) {
      blocks.push_back(point);
      blocks.back().point = fmt::format("{}.{}", id, layer);
      blocks.back().spec.table = "layer_curve";
      blocks.back().spec.layer = layer;
    }
  }
  for (const PointResult& point : blocks) record.points[point.point] = point;
  const std::vector<Figure> figures = table_curve_figures(record);
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].file == "kind_curve-accuracy.svg");
  CHECK(figures[0].panels.size() == 1);
  CHECK(figures[1].file == "layer_curve-accuracy.svg");
  CHECK(figures[1].panels.size() == 3);
  const std::string kinds = figures[0].document(), layers = figures[1].document();
  for (const std::string& text : {kinds, layers}) {
    CHECK(xml_problem(text) == "");
    CHECK_THAT(text, ContainsSubstring("accuracy, report split, n = 100 examples"));
    CHECK_THAT(text, ContainsSubstring("unpruned: 0.900"));
  }
  CHECK_THAT(kinds, ContainsSubstring("Part of one attention kind removed, by gradient_l1"));
  CHECK_THAT(kinds, ContainsSubstring("cross, 26.7 % removed (4 of 15 heads): accuracy 0.800 ["));
  CHECK(times(kinds, "<polyline") == 3);
  CHECK(kinds.find("encoder, 25 %") < kinds.find("cross, 26.7 %"));
  CHECK_THAT(layers, ContainsSubstring("Part of one decoder block removed, by gradient_l1"));
  CHECK_THAT(layers, ContainsSubstring("cross.L1, 53.3 % removed (8 of 15 heads): accuracy 0.700 ["));
  CHECK(times(layers, "<polyline") == 6);
}

TEST_CASE("an axis ends where the metric's range does", "[figures]") {
  LineChart chart;
  set_limits(chart, {.name = "bleu", .range = {0, 100}});
  CHECK((chart.y_least == 0.0 && chart.y_most == 100.0));
  LineChart open;
  set_limits(open, {.name = "loss", .higher_is_better = false, .range = {.low = 0}});
  CHECK((open.y_least == 0.0 && !open.y_most));
}

TEST_CASE("a line goes where its numbers are", "[figures]") {
  LineChart chart;
  chart.y_label = "y";
  chart.series = {{"a", {{0, 0, {}, {}, ""}, {50, 5, {}, {}, ""}, {100, 10, {}, {}, ""}}, true}};
  const std::string text = drawn(draw_line_chart(chart));
  const size_t start = text.find("<polyline points=\"") + 18;
  double x[3], y[3];
  REQUIRE(std::sscanf(text.c_str() + start, "%lf,%lf %lf,%lf %lf,%lf", x, y, x + 1, y + 1, x + 2, y + 2) == 6);
  CHECK(x[1] == Approx((x[0] + x[2]) / 2).margin(0.02));
  CHECK(y[1] == Approx((y[0] + y[2]) / 2).margin(0.02));
  CHECK(x[0] < x[2]);
  CHECK(y[0] > y[2]);  // SVG counts downwards
}

TEST_CASE("an axis ends where its metric does, and intervals are cut there", "[figures]") {
  LineChart chart;
  chart.y_most = 1;
  chart.series = {{"a", {{0, 0.5, 0.25, 3.0, ""}, {1, 0.75, {}, {}, ""}}, true}};
  const std::string text = drawn(draw_line_chart(chart));
  CHECK(text.find(">1.0</text>") != std::string::npos);
  CHECK(text.find(">3</text>") == std::string::npos);
  CHECK(text.find(">1.2</text>") == std::string::npos);
}

TEST_CASE("what is not finite is left out and said so; nothing at all is a sentence", "[figures]") {
  LineChart chart;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  chart.series = {{"a", {{0, 1, {}, {}, ""}, {1, nan, {}, {}, ""}}, true}};
  CHECK_THAT(drawn(draw_line_chart(chart)), ContainsSubstring("1 value not finite, left out"));
  chart.series = {{"a", {{0, nan, {}, {}, ""}}, true}};
  const std::string text = drawn(draw_line_chart(chart));
  CHECK_THAT(text, ContainsSubstring("no finite value to show"));
  CHECK(text.find("nan") == std::string::npos);
  chart.series.clear();
  CHECK_THAT(drawn(draw_line_chart(chart)), ContainsSubstring("no finite value to show"));
}

TEST_CASE("a heat map shows absent heads as nothing and a NaN as a question mark", "[figures]") {
  HeatMap map;
  map.rows = {"encoder.L0", "encoder.L1"};
  map.columns = {"H0", "H1"};
  map.cells = {{{1.0, "1", "one", false}, {}}, {{std::nan(""), "", "not finite", false}, {3.0, "3", "three", true}}};
  const std::string text = drawn(draw_heat_map(map));
  CHECK(times(text, "<title>one</title>") == 1);
  CHECK(times(text, ">?</text>") == 1);
  // The ends of the scale are its darkest and its lightest colour.
  CHECK(times(text, "fill=\"#00224e\"><title>one") == 1);
  CHECK(times(text, "fill=\"#fee838\"><title>three") == 1);
}

TEST_CASE("orange is the worse side, whatever the metric's direction", "[figures]") {
  HeatMap map;
  map.rows = {"a"};
  map.columns = {"1", "2"};
  map.diverging = true;
  map.cells = {{{-2.0, "", "low", false}, {2.0, "", "high", false}}};
  CHECK(times(drawn(draw_heat_map(map)), "fill=\"#a64e00\"><title>low") == 1);
  map.low_is_good = true;
  CHECK(times(drawn(draw_heat_map(map)), "fill=\"#a64e00\"><title>high") == 1);
}

TEST_CASE("bars are as long as their values", "[figures]") {
  BarChart chart;
  chart.groups = {{"g", {{"a", 2, 2, 2, {}, "", "two", 0}, {"b", 1, 1, 1, {}, "", "one", 1}}}};
  const std::string text = drawn(draw_bar_chart(chart));
  double widths[2];
  size_t at = 0;
  for (double& width : widths) {
    at = text.find("<rect x=", at + 1);
    REQUIRE(std::sscanf(text.c_str() + text.find("width=\"", at), "width=\"%lf", &width) == 1);
  }
  CHECK(widths[0] == Approx(2 * widths[1]).margin(0.02));
}

TEST_CASE("scores of models that other seeds trained are drawn apart, never as a mean over seeds", "[figures]") {
  const auto drawn = [](const Record& record) {
    for (const Figure& figure : score_figures(record))
      if (figure.file == "scores-gradient_l1.svg") return figure.document();
    return std::string();
  };
  const std::string apart = drawn(two_seeds());
  CHECK_THAT(apart, ContainsSubstring("Score gradient_l1, seed 1") && ContainsSubstring("Score gradient_l1, seed 2"));
  CHECK_THAT(apart, !ContainsSubstring("mean over"));
  // Seeds of one loaded model have the same scores: one picture, and no mean either.
  const std::string once = drawn(one_model_two_seeds());
  CHECK_THAT(once,
             ContainsSubstring("Score gradient_l1") && !ContainsSubstring("mean over") && !ContainsSubstring("seed 2"));
}

TEST_CASE("what a reader must know of a method's options stands under its table", "[figures]") {
  Record record = one_seed();
  for (MethodFact& method : record.facts->methods)
    if (method.label == "gradient_l1") method.note = "positions: all";
  bool said = false;
  for (const std::string& note : sweep_notes(record, sweeps_of(record).front(), "accuracy"))
    said = said || note == "gradient_l1: positions: all.";
  CHECK(said);
}

TEST_CASE("text from outside cannot break a figure", "[figures]") {
  LineChart chart;
  chart.title = "<script>\"&'";
  chart.series = {{"a<b", {{0, 1, {}, {}, "x\"y<z"}}, true}};
  CHECK(drawn(draw_line_chart(chart)).find("<script") == std::string::npos);
}
