#include "report/draw/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>

namespace headprune {
namespace {

constexpr double kBarHeight = 22;

double draw_group(Svg& svg, const BarGroup& group, double top) {
  double label = 0, text = 0, largest = 0;
  for (const Bar& bar : group.bars) {
    label = std::max(label, text_width(bar.label, kFontSize));
    text = std::max(text, text_width(bar.text, kFontSize));
    largest = std::max({largest, bar.high, bar.value, bar.expected.value_or(0)});
  }
  const double left = label + 8, room = kFigureWidth - left - text - 10;
  const auto place = [&](double value) { return left + (largest > 0 ? value / largest : 0) * room; };
  svg.text(0, top + 12, group.title, "muted strong");
  double y = top + 20;
  for (const Bar& bar : group.bars) {
    const double middle = y + kBarHeight / 2;
    svg.text(left - 6, middle + 4, bar.label, "ink", Anchor::end);
    svg.rect(left, y + 4, place(bar.value) - left, kBarHeight - 8,
             fmt::format("class=\"f{}\"", bar.series % kSeriesColours), bar.title);
    svg.line(place(bar.low), middle, place(bar.high), middle, "class=\"axis\" stroke-width=\"1.5\"");
    if (bar.expected) {
      const double x = place(*bar.expected);
      svg.line(x, y, x, y + kBarHeight, "class=\"halo\" stroke-width=\"5\"");
      svg.line(x, y, x, y + kBarHeight, "class=\"axis\" stroke-width=\"2\"");
    }
    svg.text(place(std::max(bar.high, bar.expected.value_or(0))) + 6, middle + 4, bar.text, "ink");
    y += kBarHeight;
  }
  return y + 6;
}

}  // namespace

Svg draw_bar_chart(const BarChart& chart) {
  Svg svg(kFigureWidth, 0);
  svg.text_within(0, 14, kFigureWidth, chart.title, "ink strong");
  svg.text_within(0, 32, kFigureWidth, chart.subtitle, "muted");
  double y = 40;
  for (const BarGroup& group : chart.groups) y = draw_group(svg, group, y);
  if (!chart.expected_label.empty()) {
    svg.line(8, y + 1, 8, y + 15, "class=\"axis\" stroke-width=\"2\"");
    svg.text_within(18, y + 12, kFigureWidth - 18, chart.expected_label, "muted");
    y += 20;
  }
  svg.set_height(y);
  return svg;
}

}  // namespace headprune
