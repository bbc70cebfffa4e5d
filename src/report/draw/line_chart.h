// Lines over a common axis, with intervals, a band and a legend, as SVG.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/draw/svg.h"

namespace headprune {

struct LinePoint {
  double x = 0, y = 0;
  std::optional<double> low, high;  // of its interval
  std::string title;                // shown on hover
};

struct LineSeries {
  std::string label;
  std::vector<LinePoint> points;  // ascending x
  bool markers = true;
};

struct BandStretch {
  double x = 0, low = 0, high = 0, mean = 0;
  std::string title;
};

struct LineChart {
  std::string title;                                 // what is shown
  std::string y_label;                               // with its unit, above the axis
  std::string x_label;                               // with its unit, below
  std::optional<std::pair<double, double>> x_range;  // absent: that of the values
  std::optional<double> y_least, y_most;             // the axis goes no further; intervals are cut there
  std::vector<LineSeries> series;
  std::string band_label;
  std::vector<BandStretch> band;
  std::optional<double> level;  // a horizontal line
  std::string level_label;
};

/// Values that are not finite are left out, and a note in the picture says how many. A chart without any value says so.
Svg draw_line_chart(const LineChart& chart);

}  // namespace headprune
