#include "report/draw/svg.h"

#include <fmt/format.h>

#include "core/text.h"
#include "report/text/markup.h"

namespace headprune {
namespace {

struct Palette {
  const char *ink, *muted, *grid, *paper;
  const char* series[kSeriesColours];
};

// Told apart by people with any of the common colour-vision deficiencies; each has a contrast of at least 3:1.
constexpr Palette kLight = {"#1c2128",
                            "#59636e",
                            "#d9dee3",
                            "#ffffff",
                            {"#0072b2", "#c44e00", "#007a5a", "#a3357f", "#8a6d00", "#4a4ab8", "#5a5a5a", "#b3202c"}};
constexpr Palette kDark = {"#e6edf3",
                           "#9aa4af",
                           "#343b44",
                           "#14181d",
                           {"#5ab4f0", "#ff9a4d", "#3ed6a2", "#f58cc8", "#e9d848", "#b0a6ff", "#c2c8ce", "#ff8680"}};

std::string rules(const Palette& palette) {
  std::string css = fmt::format(
      ".hp .ink{{fill:{0}}}.hp .muted{{fill:{1}}}.hp .grid{{stroke:{2}}}.hp .axis{{stroke:{1}}}.hp "
      ".paper{{fill:{3}}}.hp .halo{{stroke:{3}}}"
      ".hp .band{{fill:{1};fill-opacity:.22}}.hp .control{{stroke:{1}}}.hp .fcontrol{{fill:{1};stroke:{3}}}",
      palette.ink, palette.muted, palette.grid, palette.paper);
  for (int i = 0; i < kSeriesColours; ++i)
    css += fmt::format(".hp .l{0}{{stroke:{1}}}.hp .f{0}{{fill:{1};stroke:{2}}}", i, palette.series[i], palette.paper);
  return css;
}

constexpr const char* kDashes[] = {"", "6 3", "2 3", "8 3 2 3", "4 2", "1 2", "10 4", "3 3 1 3"};

std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string points_attribute(const std::vector<std::pair<double, double>>& points) {
  std::string text;
  for (const auto& [x, y] : points) text += fmt::format("{}{},{}", text.empty() ? "" : " ", number(x), number(y));
  return text;
}

std::string with_title(const std::string& element, const std::string& attributes, const std::string& title) {
  if (title.empty()) return fmt::format("<{} {}/>\n", element, attributes);
  const std::string name = element.substr(0, element.find(' '));
  return fmt::format("<{} {}><title>{}</title></{}>\n", element, attributes, xml_escape(title), name);
}

const char* anchor_name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

std::string marker_shape(double x, double y, int shape) {
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> offsets) {
    std::vector<std::pair<double, double>> points;
    for (const auto& [dx, dy] : offsets) points.push_back({x + dx, y + dy});
    return fmt::format("polygon points=\"{}\"", points_attribute(points));
  };
  switch (shape % 6) {
    case 0:
      return fmt::format("circle cx=\"{}\" cy=\"{}\" r=\"4\"", number(x), number(y));
    case 1:
      return fmt::format("rect x=\"{}\" y=\"{}\" width=\"7\" height=\"7\"", number(x - 3.5), number(y - 3.5));
    case 2:
      return polygon({{0, -5}, {4.6, 3.4}, {-4.6, 3.4}});
    case 3:
      return polygon({{0, -5.2}, {5.2, 0}, {0, 5.2}, {-5.2, 0}});
    case 4:
      return polygon({{0, 5}, {4.6, -3.4}, {-4.6, -3.4}});
    default:
      return polygon({{-5, 0}, {-2.5, -4.3}, {2.5, -4.3}, {5, 0}, {2.5, 4.3}, {-2.5, 4.3}});
  }
}

}  // namespace

std::string svg_style() {
  return ".hp{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px}"
         ".hp .on-light{fill:#000}.hp .on-dark{fill:#fff}.hp .strong{font-weight:600}.hp .small{font-size:10.5px}.hp "
         "polyline{fill:none}" +
         rules(kLight) + "@media (prefers-color-scheme:dark){" + rules(kDark) + "}@media print{" + rules(kLight) + "}";
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& attributes) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", number(x1), number(y1), number(x2),
                       number(y2), attributes);
}

void Svg::rect(double x, double y, double width, double height, const std::string& attributes,
               const std::string& title) {
  const std::string element = fmt::format("rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(x), number(y),
                                          number(width), number(height));
  body_ += with_title(element, attributes, title);
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, const std::string& attributes) {
  body_ += fmt::format("<polyline points=\"{}\" {}/>\n", points_attribute(points), attributes);
}

void Svg::polygon(const std::vector<std::pair<double, double>>& points, const std::string& attributes) {
  body_ += fmt::format("<polygon points=\"{}\" {}/>\n", points_attribute(points), attributes);
}

void Svg::path(const std::string& data, const std::string& attributes) {
  body_ += fmt::format("<path d=\"{}\" {}/>\n", data, attributes);
}

void Svg::marker(double x, double y, int series, const std::string& title) {
  const std::string colour = series < 0 ? "fcontrol" : fmt::format("f{}", series % kSeriesColours);
  body_ += with_title(marker_shape(x, y, std::max(series, 0)), fmt::format("class=\"{}\"", colour), "");
  if (title.empty()) return;
  // A finger or a shaky hand needs more than four units.
  body_ += with_title(fmt::format("circle cx=\"{}\" cy=\"{}\" r=\"9\"", number(x), number(y)),
                      "fill=\"#000\" fill-opacity=\"0\"", title);
}

void Svg::text(double x, double y, const std::string& text, const std::string& css_class, Anchor anchor) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", number(x), number(y),
                       css_class, anchor_name(anchor), xml_escape(text));
}

void Svg::text_within(double x, double y, double width, const std::string& text, const std::string& css_class) {
  std::string shown = text;
  const std::vector<std::string_view> characters = utf8_characters(text);
  for (size_t keep = characters.size(); keep > 1 && text_width(shown, kFontSize) > width;) {
    shown.clear();
    --keep;
    for (size_t i = 0; i < keep; ++i) shown += characters[i];
    shown += "…";
  }
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}<title>{}</title></text>\n", number(x), number(y),
                       css_class, xml_escape(shown), xml_escape(text));
}

void Svg::place(double y, const Svg& picture) {
  body_ += fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", number(y), picture.body_);
}

std::string Svg::open(const std::string& alt, const std::string& more) const {
  return fmt::format("<svg class=\"hp\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"{}>\n", number(width_),
                     number(height_), xml_escape(alt), more);
}

std::string Svg::document(const std::string& alt) const {
  const std::string size =
      fmt::format(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\"", number(width_), number(height_));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + open(alt, size) + "<style>" + svg_style() + "</style>\n" +
         fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", number(width_), number(height_)) + body_ +
         "</svg>\n";
}

std::string Svg::element(const std::string& alt) const { return open(alt, "") + body_ + "</svg>\n"; }

std::string series_line(int series) {
  if (series < 0) return "class=\"control\" stroke-width=\"1.2\" stroke-dasharray=\"4 3\"";
  const char* dashes = kDashes[series % static_cast<int>(std::size(kDashes))];
  return fmt::format("class=\"l{}\" stroke-width=\"2\"{}", series % kSeriesColours,
                     *dashes ? fmt::format(" stroke-dasharray=\"{}\"", dashes) : "");
}

double text_width(const std::string& text, double size) {
  return 0.58 * size * static_cast<double>(display_width(text));
}

}  // namespace headprune
