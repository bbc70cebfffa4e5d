#include "report/draw/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

constexpr size_t kAxisWidth = 8;  // number, space, axis
constexpr const char* kColours[] = {"36", "33", "32", "35", "31", "34"};
constexpr const char* kBandColour = "2";

struct Range {
  double low = 0, high = 1;
  double place(double value) const { return (value - low) / (high - low); }
};

Range widened(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low == *high) return {*low - 0.5, *high + 0.5};
  return {*low, *high};
}

/// A letter of the label that no other series has, or a digit.
char marker_for(const std::string& label, std::set<char>& taken) {
  for (const std::string& letters : {label, std::string("123456789abcdefghijklmnopqrstuvwxyz")}) {
    for (const char c : letters) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (plain && taken.insert(c).second) return c;
    }
  }
  return '?';
}

struct Glyph {
  std::string text = " ";
  const char* colour = nullptr;
  int owner = -2;  // series; -1 band
  bool point = false;
};

class Canvas {
 public:
  Canvas(const Plot& plot, Range x, Range y)
      : plot_(plot), x_(x), y_(y), columns_(plot.width - kAxisWidth), cells_(plot.height) {
    for (std::vector<Glyph>& row : cells_) row.resize(columns_);
  }

  void band() {
    for (size_t i = 1; i < plot_.band.size(); ++i) {
      const BandPoint &a = plot_.band[i - 1], &b = plot_.band[i];
      for (size_t column = column_of(a.x); column <= column_of(b.x); ++column) {
        const double t = share(a.x, b.x, column);
        const size_t bottom = row_of(a.low + t * (b.low - a.low)), top = row_of(a.high + t * (b.high - a.high));
        for (size_t row = top; row <= bottom; ++row) cells_[row][column] = {"░", kBandColour, -1, false};
      }
    }
  }

  void lines(int owner, const PlotSeries& series) {
    for (size_t i = 1; i < series.points.size(); ++i) {
      const PlotPoint &a = series.points[i - 1], &b = series.points[i];
      for (size_t column = column_of(a.x); column <= column_of(b.x); ++column) {
        const double y = a.y + share(a.x, b.x, column) * (b.y - a.y);
        cells_[row_of(y)][column] = {"·", colour_of(owner), owner, false};
      }
    }
  }

  void points(int owner, const PlotSeries& series, char marker) {
    for (const PlotPoint& point : series.points) {
      Glyph& cell = cells_[row_of(point.y)][column_of(point.x)];
      const bool shared = cell.point && cell.owner != owner;
      several_ = several_ || shared;
      cell = {shared ? "#" : std::string(1, marker), shared ? nullptr : colour_of(owner), owner, true};
    }
  }

  static const char* colour_of(int owner) { return kColours[static_cast<size_t>(owner) % std::size(kColours)]; }
  bool several() const { return several_; }

  std::string text() const {
    std::vector<std::string> labels(plot_.height);
    for (const double tick : round_ticks(y_.low, y_.high, 4)) labels[row_of(tick)] = value_text(tick);
    std::string out;
    for (size_t row = 0; row < plot_.height; ++row) {
      std::string line = fmt::format("{:>{}} {}", labels[row], kAxisWidth - 2, labels[row].empty() ? "│" : "┤");
      size_t used = columns_;
      while (used > 0 && cells_[row][used - 1].owner == -2) --used;
      for (size_t column = 0; column < used; ++column) {
        const Glyph& cell = cells_[row][column];
        line += cell.colour == nullptr ? cell.text : coloured(cell.text, cell.colour, plot_.colour);
      }
      out += line + '\n';
    }
    return out + x_axis();
  }

 private:
  size_t column_of(double x) const {
    return static_cast<size_t>(std::lround(x_.place(x) * static_cast<double>(columns_ - 1)));
  }
  size_t row_of(double y) const {
    return static_cast<size_t>(std::lround((1 - y_.place(y)) * static_cast<double>(plot_.height - 1)));
  }
  /// How far a column lies between two places on the x axis, 0 to 1.
  double share(double a, double b, size_t column) const {
    const double x = x_.low + static_cast<double>(column) / static_cast<double>(columns_ - 1) * (x_.high - x_.low);
    return std::clamp((x - a) / (b - a), 0.0, 1.0);
  }

  std::string x_axis() const {
    std::string line = std::string(kAxisWidth - 1, ' ') + "└";
    std::string labels(kAxisWidth + columns_, ' ');
    std::set<size_t> marks;
    for (const double tick : round_ticks(x_.low, x_.high, 4)) {
      const size_t column = column_of(tick);
      marks.insert(column);
      const std::string text = fmt::format("{:.4g}", tick + 0.0);  // -0 prints as 0
      const size_t centre = kAxisWidth + column;
      const size_t begin = std::min(centre - text.size() / 2, labels.size() - text.size());
      labels.replace(begin, text.size(), text);
    }
    for (size_t column = 0; column < columns_; ++column) line += marks.count(column) > 0 ? "┬" : "─";
    labels.erase(labels.find_last_not_of(' ') + 1);
    const size_t shift = kAxisWidth + (columns_ > plot_.x_label.size() ? (columns_ - plot_.x_label.size()) / 2 : 0);
    return line + '\n' + labels + '\n' + std::string(shift, ' ') + plot_.x_label + '\n';
  }

  const Plot& plot_;
  Range x_, y_;
  size_t columns_;
  std::vector<std::vector<Glyph>> cells_;
  bool several_ = false;
};

/// Entries side by side, on as many lines as they need.
class Legend {
 public:
  explicit Legend(size_t width) : width_(width) {}

  void add(const std::string& sign, const char* colour, const std::string& label, bool coloured_sign) {
    const size_t size = display_width(sign) + 1 + display_width(label);
    if (used_ > 0 && used_ + 3 + size > width_) {
      text_ += '\n';
      used_ = 0;
    }
    text_ += std::string(used_ == 0 ? kAxisWidth : 3, ' ');
    used_ += used_ == 0 ? kAxisWidth + size : 3 + size;
    text_ += fmt::format("{} {}", colour == nullptr ? sign : coloured(sign, colour, coloured_sign), label);
  }
  std::string text() const { return text_ + '\n'; }

 private:
  size_t width_, used_ = 0;
  std::string text_;
};

/// The plot without what is not finite.
Plot finite_part(Plot plot) {
  for (PlotSeries& series : plot.series) {
    std::erase_if(series.points, [](const PlotPoint& point) { return !std::isfinite(point.y); });
  }
  std::erase_if(plot.series, [](const PlotSeries& series) { return series.points.empty(); });
  std::erase_if(plot.band, [](const BandPoint& p) { return !std::isfinite(p.low) || !std::isfinite(p.high); });
  return plot;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> list;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
    list.push_back(i * step + 0.0);  // no -0
  return list;
}

std::string draw_plot(const Plot& wanted) {
  const Plot plot = finite_part(wanted);
  std::vector<double> xs, ys;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  }
  for (const BandPoint& point : plot.band) {
    xs.push_back(point.x);
    ys.insert(ys.end(), {point.low, point.high});
  }
  if (xs.empty() || plot.width < kAxisWidth + 10 || plot.height < 3) return "";
  Canvas canvas(plot, widened(xs), widened(ys));
  canvas.band();
  const int count = static_cast<int>(plot.series.size());
  for (int i = 0; i < count; ++i) canvas.lines(i, plot.series[static_cast<size_t>(i)]);
  std::set<char> taken;
  Legend legend(plot.width);
  for (int i = 0; i < count; ++i) {
    const PlotSeries& series = plot.series[static_cast<size_t>(i)];
    const char marker = marker_for(series.label, taken);
    canvas.points(i, series, marker);
    legend.add(std::string(1, marker), Canvas::colour_of(i), series.label, plot.colour);
  }
  if (!plot.band.empty()) legend.add("░", kBandColour, plot.band_label, plot.colour);
  if (canvas.several()) legend.add("#", nullptr, "several", plot.colour);
  return std::string(kAxisWidth - 1, ' ') + plot.y_label + '\n' + canvas.text() + legend.text();
}

}  // namespace headprune
