// Bars made of parts, one above the other, as SVG.
#pragma once

#include <string>
#include <vector>

#include "report/draw/svg.h"

namespace headprune {

struct StackedBar {
  std::string label;          // below it
  std::vector<double> parts;  // one a part of the chart, from below
};

struct StackedBars {
  std::string title, subtitle;
  std::string x_label, y_label;
  std::vector<std::string> parts;  // names; the last is drawn grey: what is none of the others
  std::vector<StackedBar> bars;
};

Svg draw_stacked_bars(const StackedBars& chart);

}  // namespace headprune
