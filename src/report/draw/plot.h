// A small plot made of characters.
#pragma once

#include <string>
#include <vector>

namespace headprune {

struct PlotPoint {
  double x = 0, y = 0;
};

struct PlotSeries {
  std::string label;
  std::vector<PlotPoint> points;  // ascending x
};

struct BandPoint {
  double x = 0, low = 0, high = 0;
};

struct Plot {
  std::string x_label;
  std::string y_label;
  std::vector<PlotSeries> series;
  std::string band_label;
  std::vector<BandPoint> band;  // shaded; may be empty
  size_t width = 80;            // of everything, axis included
  size_t height = 12;           // rows of the plotting area
  bool colour = false;
};

/// About `count` round numbers from low to high; low < high.
std::vector<double> round_ticks(double low, double high, int count);

/// Lines of text: one letter a series at its points, dots between them, '#' where several fall on one place, the band
/// shaded, axes with numbers, and a legend. Points that are not finite are left out. Empty when nothing can be drawn.
std::string draw_plot(const Plot& plot);

}  // namespace headprune
