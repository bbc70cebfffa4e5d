// A grid of coloured cells as SVG: layers x heads, or methods x methods.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/draw/svg.h"

namespace headprune {

struct HeatCell {
  std::optional<double> value;  // absent: no such head
  std::string text;             // inside the cell where there is room
  std::string title;            // on hover
  bool marked = false;          // a dot in the corner
};

struct HeatMap {
  std::string title, subtitle;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<HeatCell>> cells;  // [rows][columns]
  /// Sequential from the smallest to the largest value (cividis); diverging around 0 (orange below, blue above, or the
  /// other way round where `low_is_good`: orange is always the worse side).
  bool diverging = false;
  bool low_is_good = false;
  std::optional<double> limit;        // of a diverging scale; absent: the largest absolute value
  std::string low_label, high_label;  // what the ends of the scale mean
  std::string mark_label;             // what the dot means; empty without dots
};

/// 0xRRGGBB of a place from 0 to 1 on the sequential scale.
uint32_t sequential_colour(double place);

Svg draw_heat_map(const HeatMap& map);

}  // namespace headprune
