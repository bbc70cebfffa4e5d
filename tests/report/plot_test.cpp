#include "report/draw/plot.h"

#include <cmath>

#include "report/approved.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

TEST_CASE("a plot shows curves, band, axes and legend", "[plot]") {
  Plot plot;
  plot.x_label = "fraction";
  plot.y_label = "accuracy";
  plot.series = {{"grad", {{0, 1}, {0.5, 1}, {1, 0}}}, {"gate", {{0, 1}, {0.5, 0.5}, {1, 0}}}};
  plot.band = {{0, 1, 1}, {0.5, 0.25, 0.5}, {1, 0, 0}};
  plot.band_label = "random";
  plot.width = 29;
  plot.height = 5;
  check_approved("plot", draw_plot(plot));
}

TEST_CASE("points that are not finite are left out", "[plot]") {
  Plot plot;
  plot.width = 40;
  plot.series = {{"a", {{0, std::nan("")}}}};
  CHECK(draw_plot(plot).empty());
  plot.series.push_back({"b", {{0, 1}, {1, INFINITY}}});
  CHECK_THAT(draw_plot(plot), ContainsSubstring("b b"));
}

TEST_CASE("a flat curve has a range of its own", "[plot]") {
  Plot plot;
  plot.width = 40;
  plot.series = {{"flat", {{0, 0.5}, {1, 0.5}}}};
  CHECK_THAT(draw_plot(plot), ContainsSubstring("f"));
  CHECK_THAT(draw_plot(plot), ContainsSubstring("0.500"));
}
