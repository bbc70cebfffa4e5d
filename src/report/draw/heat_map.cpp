#include "report/draw/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/text/text_table.h"

namespace headprune {
namespace {

using Colour = std::array<double, 3>;

// Both scales keep their order for people with any of the common colour-vision deficiencies, and in grey.
constexpr Colour kCividis[] = {{0, 34, 78},     {53, 69, 108},   {102, 105, 112},
                               {148, 142, 119}, {200, 184, 102}, {254, 232, 56}};
constexpr Colour kOrangeBlue[] = {{166, 78, 0},    {230, 145, 56}, {250, 215, 170}, {245, 245, 245},
                                  {182, 212, 233}, {78, 147, 195}, {5, 84, 148}};

template <size_t N>
Colour blend(const Colour (&stops)[N], double place) {
  const double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(N - 1);
  const auto first = std::min(static_cast<size_t>(at), N - 2);
  const double t = at - static_cast<double>(first);
  Colour colour{};
  for (size_t i = 0; i < 3; ++i) colour[i] = stops[first][i] + t * (stops[first + 1][i] - stops[first][i]);
  return colour;
}

std::string hex(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", std::lround(colour[0]), std::lround(colour[1]), std::lround(colour[2]));
}

/// The class of black or white text, whichever has the higher contrast (WCAG relative luminance).
const char* text_on(const Colour& colour) {
  const auto linear = [](double part) {
    const double c = part / 255;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
  return luminance > 0.179 ? "on-light" : "on-dark";
}

class HeatDrawing {
 public:
  explicit HeatDrawing(const HeatMap& map) : map_(map), svg_(kFigureWidth, 0) {}

  Svg draw() {
    measure();
    double y = 14;
    svg_.text_within(0, y, kFigureWidth, map_.title, "ink strong");
    if (!map_.subtitle.empty()) svg_.text_within(0, y += 18, kFigureWidth, map_.subtitle, "muted");
    y += 20;
    columns(y);
    y += 6;
    for (size_t row = 0; row < map_.rows.size(); ++row) {
      svg_.text(left_ - 6, y + height_ / 2 + 4, map_.rows[row], "ink", Anchor::end);
      for (size_t column = 0; column < map_.columns.size(); ++column) cell(row, column, y);
      y += height_;
    }
    scale(y + 12);
    return svg_;
  }

 private:
  void measure() {
    double widest = 0;
    for (const std::string& row : map_.rows) widest = std::max(widest, text_width(row, kFontSize));
    left_ = widest + 8;
    const double room = (kFigureWidth - left_) / static_cast<double>(std::max<size_t>(1, map_.columns.size()));
    width_ = std::min(room, 62.0);
    height_ = 26;
    // Numbers in some cells only would look like a choice.
    for (const auto& row : map_.cells) {
      for (const HeatCell& one : row) room_ = room_ && text_width(one.text, 10.5) + 2 <= width_;
    }
    bool first = true;
    double largest = 0;
    for (const auto& row : map_.cells) {
      for (const HeatCell& one : row) {
        if (!one.value || !std::isfinite(*one.value)) continue;
        low_ = first ? *one.value : std::min(low_, *one.value);
        high_ = first ? *one.value : std::max(high_, *one.value);
        first = false;
        largest = std::max(largest, std::abs(*one.value));
      }
    }
    if (!map_.diverging) return;
    const double limit = map_.limit.value_or(largest > 0 ? largest : 1);
    low_ = -limit;
    high_ = limit;
  }

  /// Every label, or every second, fifth ... where they would touch.
  void columns(double y) {
    double widest = 0;
    for (const std::string& column : map_.columns) widest = std::max(widest, text_width(column, kFontSize));
    size_t step = 1;
    for (const size_t candidate : {1, 2, 4, 5, 8, 10, 16, 32}) {
      step = candidate;
      if (static_cast<double>(candidate) * width_ >= widest + 4) break;
    }
    for (size_t i = 0; i < map_.columns.size(); i += step)
      svg_.text(left_ + (static_cast<double>(i) + 0.5) * width_, y, map_.columns[i], "muted", Anchor::middle);
  }

  /// Of a place on the scale, 0 to 1.
  Colour shade(double place) const {
    if (!map_.diverging) return blend(kCividis, place);
    return blend(kOrangeBlue, map_.low_is_good ? 1 - place : place);
  }

  Colour colour(double value) const {
    const double place = high_ > low_ ? (value - low_) / (high_ - low_) : 0.5;
    return shade(place);
  }

  void cell(size_t row, size_t column, double y) {
    const HeatCell& one = map_.cells[row][column];
    const double x = left_ + static_cast<double>(column) * width_;
    if (!one.value) return;
    if (!std::isfinite(*one.value)) {
      svg_.rect(x + 0.5, y + 0.5, width_ - 1, height_ - 1, "class=\"grid\" fill=\"none\"", one.title);
      svg_.text(x + width_ / 2, y + height_ / 2 + 4, "?", "muted", Anchor::middle);
      return;
    }
    const Colour fill = colour(*one.value);
    svg_.rect(x + 0.5, y + 0.5, width_ - 1, height_ - 1, fmt::format("fill=\"{}\"", hex(fill)), one.title);
    if (room_ && !one.text.empty())
      svg_.text(x + width_ / 2, y + height_ / 2 + 4, one.text, fmt::format("small {}", text_on(fill)), Anchor::middle);
    if (one.marked) svg_.rect(x + width_ - 6, y + 2.5, 3.5, 3.5, fmt::format("class=\"{}\"", text_on(fill)));
  }

  void scale(double y) {
    constexpr int kSteps = 60;
    const double width = kFigureWidth;
    const std::string low = fmt::format("{} {}", value_text(low_), map_.low_label);
    const std::string high = fmt::format("{} {}", value_text(high_), map_.high_label);
    for (int i = 0; i < kSteps; ++i) {
      const double t = (i + 0.5) / kSteps;
      const Colour fill = shade(t);
      svg_.rect(i * width / kSteps, y, width / kSteps + 0.3, 9, fmt::format("fill=\"{}\"", hex(fill)));
    }
    svg_.text_within(0, y + 24, kFigureWidth / 2 - 10, low, "muted");
    svg_.text(kFigureWidth, y + 24, high, "muted", Anchor::end);
    if (map_.diverging) svg_.text(kFigureWidth / 2, y + 24, "0", "muted", Anchor::middle);
    double bottom = y + 30;
    if (!map_.mark_label.empty()) {
      svg_.rect(1, bottom + 6, 4, 4, "class=\"ink\"");
      svg_.text_within(12, bottom + 12, kFigureWidth - 12, map_.mark_label, "muted");
      bottom += 18;
    }
    svg_.set_height(bottom);
  }

  const HeatMap& map_;
  Svg svg_;
  bool room_ = true;
  double left_ = 0, width_ = 0, height_ = 0, low_ = 0, high_ = 0;
};

}  // namespace

uint32_t sequential_colour(double place) {
  uint32_t colour = 0;
  for (const double part : blend(kCividis, place)) colour = colour << 8 | static_cast<uint32_t>(std::lround(part));
  return colour;
}

Svg draw_heat_map(const HeatMap& map) { return HeatDrawing(map).draw(); }

}  // namespace headprune
