// Horizontal bars with a range and an expectation, as SVG.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/draw/svg.h"

namespace headprune {

struct Bar {
  std::string label;
  double value = 0, low = 0, high = 0;
  std::optional<double> expected;  // a tick across the bar
  std::string text;                // behind the bar
  std::string title;               // on hover
  int series = 0;                  // colour
};

struct BarGroup {
  std::string title;
  std::vector<Bar> bars;
};

struct BarChart {
  std::string title, subtitle;
  std::vector<BarGroup> groups;  // each with a scale of its own, from 0
  std::string expected_label;    // empty without expectations
};

Svg draw_bar_chart(const BarChart& chart);

}  // namespace headprune
