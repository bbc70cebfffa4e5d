#include "report/draw/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/draw/plot.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

constexpr double kPlotHeight = 230;
constexpr double kTop = 46;  // title and y label
constexpr double kRight = 14;
constexpr double kLineHeight = 18;

/// An axis that begins and ends at round numbers.
struct Scale {
  double low = 0, high = 1;
  double from = 0, to = 1;  // user units
  std::vector<double> ticks;
  double place(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

Scale scale_over(std::vector<double> values, int count) {
  Scale scale;
  if (values.empty()) values = {0, 1};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  scale.low = *low;
  scale.high = *high;
  if (scale.low == scale.high) {
    const double half = scale.low == 0 ? 0.5 : 0.05 * std::abs(scale.low);
    scale.low -= half;
    scale.high += half;
  }
  scale.ticks = round_ticks(scale.low, scale.high, count);
  const double step = scale.ticks.size() > 1 ? scale.ticks[1] - scale.ticks[0] : (scale.high - scale.low);
  while (scale.ticks.front() > scale.low + 1e-9 * step)
    scale.ticks.insert(scale.ticks.begin(), scale.ticks.front() - step);
  while (scale.ticks.back() < scale.high - 1e-9 * step) scale.ticks.push_back(scale.ticks.back() + step);
  for (double& tick : scale.ticks) {
    if (std::abs(tick) < 1e-9 * step) tick = 0;
  }
  scale.low = scale.ticks.front();
  scale.high = scale.ticks.back();
  return scale;
}

std::string tick_text(double value, double step) {
  if (value == 0) return "0";
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  if (step < 1e-6 || std::abs(value) >= 1e6) return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.{}f}", value, digits);
  // 0.25 steps need two digits where log10 gives one.
  if (std::abs(std::stod(text) - value) > 1e-3 * step) text = fmt::format("{:.{}f}", value, digits + 1);
  return text;
}

class LineDrawing {
 public:
  explicit LineDrawing(const LineChart& chart) : chart_(chart), svg_(kFigureWidth, 0) {}

  Svg draw() {
    scales();
    svg_.text_within(0, 14, kFigureWidth, chart_.title, "ink strong");
    svg_.text_within(0, 32, kFigureWidth, chart_.y_label, "muted");
    axes();
    if (values_ == 0)
      svg_.text((x_.from + x_.to) / 2, kTop + kPlotHeight / 2, "no finite value to show", "muted", Anchor::middle);
    band();
    level();
    for (size_t i = 0; i < chart_.series.size(); ++i) series(static_cast<int>(i));
    legend();
    svg_.set_height(bottom_ + 6);
    return svg_;
  }

 private:
  void scales() {
    std::vector<double> xs, ys;
    for (const LineSeries& one : chart_.series) {
      for (const LinePoint& point : one.points) {
        if (!std::isfinite(point.y)) {
          ++skipped_;
          continue;
        }
        ++values_;
        xs.push_back(point.x);
        ys.push_back(point.y);
        for (const std::optional<double>& end : {point.low, point.high}) {
          if (end && std::isfinite(*end)) ys.push_back(*end);
        }
      }
    }
    for (const BandStretch& stretch : chart_.band) {
      if (!std::isfinite(stretch.low) || !std::isfinite(stretch.high)) continue;
      ++values_;
      xs.push_back(stretch.x);
      ys.insert(ys.end(), {stretch.low, stretch.high});
    }
    if (chart_.level && std::isfinite(*chart_.level)) ys.push_back(*chart_.level);
    for (double& y : ys) y = std::clamp(y, least(), most());
    if (chart_.x_range) xs = {chart_.x_range->first, chart_.x_range->second};
    x_ = scale_over(xs, 5);
    y_ = scale_over(ys, 5);
    double widest = 0;
    for (const double tick : y_.ticks) widest = std::max(widest, text_width(tick_text(tick, y_step()), kFontSize));
    x_.from = widest + 10;
    x_.to = kFigureWidth - kRight;
    y_.from = kTop + kPlotHeight;
    y_.to = kTop;
  }

  double least() const { return chart_.y_least.value_or(std::numeric_limits<double>::lowest()); }
  double most() const { return chart_.y_most.value_or(std::numeric_limits<double>::max()); }
  double y_step() const { return y_.ticks[1] - y_.ticks[0]; }

  void axes() {
    for (const double tick : y_.ticks) {
      const double y = y_.place(tick);
      svg_.line(x_.from, y, x_.to, y, "class=\"grid\"");
      svg_.text(x_.from - 6, y + 4, tick_text(tick, y_step()), "muted", Anchor::end);
    }
    for (const double tick : x_.ticks) {
      const double x = x_.place(tick);
      svg_.line(x, y_.from, x, y_.from + 4, "class=\"axis\"");
      svg_.text(x, y_.from + 18, tick_text(tick, x_.ticks[1] - x_.ticks[0]), "muted", Anchor::middle);
    }
    svg_.line(x_.from, y_.from, x_.to, y_.from, "class=\"axis\"");
    svg_.text((x_.from + x_.to) / 2, y_.from + 36, chart_.x_label, "muted", Anchor::middle);
    bottom_ = y_.from + 42;
  }

  void band() {
    std::vector<std::pair<double, double>> edge, back, mean;
    for (const BandStretch& stretch : chart_.band) {
      if (!std::isfinite(stretch.low) || !std::isfinite(stretch.high)) continue;
      edge.push_back({x_.place(stretch.x), y_.place(stretch.high)});
      back.insert(back.begin(), {x_.place(stretch.x), y_.place(stretch.low)});
      mean.push_back({x_.place(stretch.x), y_.place(stretch.mean)});
    }
    if (edge.empty()) return;
    edge.insert(edge.end(), back.begin(), back.end());
    svg_.polygon(edge, "class=\"band\"");
    svg_.polyline(mean, series_line(-1));
    for (const BandStretch& stretch : chart_.band) {
      if (std::isfinite(stretch.mean)) svg_.marker(x_.place(stretch.x), y_.place(stretch.mean), -1, stretch.title);
    }
  }

  void level() {
    if (!chart_.level || !std::isfinite(*chart_.level)) return;
    const double y = y_.place(*chart_.level);
    svg_.line(x_.from, y, x_.to, y, "class=\"axis\" stroke-dasharray=\"1 3\"");
  }

  void series(int index) {
    const LineSeries& one = chart_.series[static_cast<size_t>(index)];
    // Intervals at one x would hide each other.
    const double shift = one.markers ? 2.5 * (index - 0.5 * static_cast<double>(chart_.series.size() - 1)) : 0;
    std::vector<std::pair<double, double>> path;
    for (const LinePoint& point : one.points) {
      if (!std::isfinite(point.y)) continue;
      const double x = x_.place(point.x);
      path.push_back({x, y_.place(point.y)});
      if (!point.low || !point.high || !std::isfinite(*point.low) || !std::isfinite(*point.high)) continue;
      svg_.line(x + shift, y_.place(std::clamp(*point.low, least(), most())), x + shift,
                y_.place(std::clamp(*point.high, least(), most())),
                fmt::format("class=\"l{}\" stroke-width=\"1\"", index % kSeriesColours));
    }
    svg_.polyline(path, series_line(index));
    if (!one.markers) return;
    for (const LinePoint& point : one.points) {
      if (std::isfinite(point.y)) svg_.marker(x_.place(point.x), y_.place(point.y), index, point.title);
    }
  }

  void legend() {
    const size_t entries = chart_.series.size() + (chart_.band.empty() ? 0 : 1) + (chart_.level ? 1 : 0);
    if (entries > 1 || !chart_.band.empty() || chart_.level) {
      for (size_t i = 0; i < chart_.series.size(); ++i) {
        const int index = static_cast<int>(i);
        const double x = entry(chart_.series[i].label);
        svg_.line(x, bottom_ - 4, x + 24, bottom_ - 4, series_line(index));
        if (chart_.series[i].markers) svg_.marker(x + 12, bottom_ - 4, index);
      }
      if (!chart_.band.empty()) {
        const double x = entry(chart_.band_label);
        svg_.rect(x, bottom_ - 9, 24, 10, "class=\"band\"");
        svg_.line(x, bottom_ - 4, x + 24, bottom_ - 4, series_line(-1));
      }
      if (chart_.level) {
        const double x = entry(chart_.level_label);
        svg_.line(x, bottom_ - 4, x + 24, bottom_ - 4, "class=\"axis\" stroke-dasharray=\"1 3\"");
      }
    }
    if (skipped_ == 0) return;
    bottom_ += kLineHeight;
    svg_.text(0, bottom_, count_text(skipped_, "value") + " not finite, left out", "ink strong");
  }

  /// Room for one more entry; returns where its sign begins.
  double entry(const std::string& label) {
    const double needed = 30 + text_width(label, kFontSize) + 16;
    if (legend_x_ == 0 || legend_x_ + needed > kFigureWidth) {
      bottom_ += kLineHeight;
      legend_x_ = 0;
    }
    const double x = legend_x_;
    svg_.text_within(x + 30, bottom_, kFigureWidth - 30, label, "ink");
    legend_x_ += needed;
    return x;
  }

  const LineChart& chart_;
  Svg svg_;
  Scale x_, y_;
  int64_t values_ = 0, skipped_ = 0;
  double bottom_ = 0, legend_x_ = 0;
};

}  // namespace

Svg draw_line_chart(const LineChart& chart) { return LineDrawing(chart).draw(); }

}  // namespace headprune
