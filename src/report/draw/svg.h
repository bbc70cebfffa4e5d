// Drawing SVG. Colours are classes, so that one figure serves light and dark; a figure in a file of its own brings the
// style along, one inside a page takes it from there.
#pragma once

#include <string>
#include <vector>

namespace headprune {

/// Rules for every class that figures use; light, dark (prefers-color-scheme) and print.
std::string svg_style();
/// Series beyond these repeat colours; dashes and markers still tell them apart.
inline constexpr int kSeriesColours = 8;

enum class Anchor { start, middle, end };

/// A picture being drawn. Lengths are in user units; the picture scales with its container.
class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}
  double width() const { return width_; }
  double height() const { return height_; }
  void set_height(double height) { height_ = height; }

  void line(double x1, double y1, double x2, double y2, const std::string& attributes);
  /// `fill` is an attribute: class="..." or fill="...". With a title it shows that on hover.
  void rect(double x, double y, double width, double height, const std::string& attributes,
            const std::string& title = "");
  /// Points as "x,y x,y".
  void polyline(const std::vector<std::pair<double, double>>& points, const std::string& attributes);
  void polygon(const std::vector<std::pair<double, double>>& points, const std::string& attributes);
  /// Of one colour, `data` as SVG has it.
  void path(const std::string& data, const std::string& attributes);
  /// The sign of a series: circle, square, triangle, diamond, ...; with a title over a larger area.
  void marker(double x, double y, int series, const std::string& title = "");
  void text(double x, double y, const std::string& text, const std::string& css_class, Anchor anchor = Anchor::start);
  /// Text cut to a width, whole on hover.
  void text_within(double x, double y, double width, const std::string& text, const std::string& css_class);
  /// Another picture inside this one.
  void place(double y, const Svg& picture);

  /// A whole document. `alt` says what it shows to those who cannot see it.
  std::string document(const std::string& alt) const;
  /// An element for a page that has svg_style().
  std::string element(const std::string& alt) const;

 private:
  std::string open(const std::string& alt, const std::string& more) const;
  double width_, height_;
  std::string body_;
};

/// class="l3 d3": line colour and dashes of a series.
std::string series_line(int series);
/// How wide `text` will be at this font size, roughly.
double text_width(const std::string& text, double size);

inline constexpr double kFigureWidth = 460;
inline constexpr double kFontSize = 12;

}  // namespace headprune
