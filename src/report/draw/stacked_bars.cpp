#include "report/draw/stacked_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/draw/plot.h"

namespace headprune {
namespace {

constexpr double kBarsHeight = 180, kBarsLeft = 40, kBarsTop = 62;

std::string colour(const StackedBars& chart, size_t part) {
  return part + 1 == chart.parts.size() ? std::string("class=\"band\"")
                                        : fmt::format("class=\"f{}\"", part % kSeriesColours);
}

/// Names of the parts with their colours, in lines; where the next thing can be drawn.
double draw_legend(Svg& svg, const StackedBars& chart, double y) {
  double x = 0;
  for (size_t part = 0; part < chart.parts.size(); ++part) {
    const double needed = 24 + text_width(chart.parts[part], kFontSize);
    if (x > 0 && x + needed > kFigureWidth) x = 0, y += 18;
    svg.rect(x, y + 2, 12, 12, colour(chart, part));
    svg.text(x + 16, y + 12, chart.parts[part], "ink");
    x += needed;
  }
  return y + 20;
}

}  // namespace

Svg draw_stacked_bars(const StackedBars& chart) {
  Svg svg(kFigureWidth, 0);
  svg.text_within(0, 14, kFigureWidth, chart.title, "ink strong");
  svg.text_within(0, 32, kFigureWidth, chart.subtitle, "muted");
  svg.text(0, kBarsTop - 8, chart.y_label, "muted");
  double highest = 1;
  for (const StackedBar& bar : chart.bars)
    highest = std::max(highest, std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0));
  const auto place = [&](double value) { return kBarsTop + kBarsHeight * (1 - value / highest); };
  for (const double tick : round_ticks(0, highest, 4)) {
    if (tick > highest) continue;
    svg.line(kBarsLeft, place(tick), kFigureWidth, place(tick), "class=\"grid\"");
    svg.text(kBarsLeft - 6, place(tick) + 4, fmt::format("{:g}", tick), "muted", Anchor::end);
  }
  const double step = (kFigureWidth - kBarsLeft) / std::max<double>(1, static_cast<double>(chart.bars.size()));
  double label_end = 0;
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    const StackedBar& bar = chart.bars[i];
    const double x = kBarsLeft + step * (static_cast<double>(i) + 0.1);
    double below = 0;
    for (size_t part = 0; part < bar.parts.size(); ++part) {
      const double value = bar.parts[part];
      if (value > 0)
        svg.rect(x, place(below + value), step * 0.8, place(below) - place(below + value), colour(chart, part),
                 fmt::format("{}, {}: {:g}", bar.label, chart.parts[part], value));
      below += value;
    }
    const double middle = x + step * 0.4, half = text_width(bar.label, kFontSize) / 2;
    if (middle - half < label_end) continue;  // labels that would overlap are left out
    svg.text(middle, kBarsTop + kBarsHeight + 16, bar.label, "muted", Anchor::middle);
    label_end = middle + half + 4;
  }
  svg.line(kBarsLeft, kBarsTop + kBarsHeight, kFigureWidth, kBarsTop + kBarsHeight, "class=\"axis\"");
  svg.text(kFigureWidth, kBarsTop + kBarsHeight + 34, chart.x_label, "muted", Anchor::end);
  svg.set_height(draw_legend(svg, chart, kBarsTop + kBarsHeight + 44));
  return svg;
}

}  // namespace headprune
