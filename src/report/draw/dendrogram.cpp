#include "report/draw/dendrogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/draw/heat_map.h"
#include "report/draw/plot.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

constexpr double kChartTop = 48, kLeafHeight = 11, kMostHeight = 1000;
constexpr int64_t kMostNames = 100;
constexpr int kShades = 32;

std::string shade_hex(double place) { return fmt::format("#{:06x}", sequential_colour(place)); }

/// What both pictures share: things in the order of the leaves, from above.
class ClusterRows {
 public:
  explicit ClusterRows(const ClusterChart& chart) : svg(kFigureWidth, 0) {
    for (const LinkageTree& tree : chart.trees) order.insert(order.end(), tree.leaves.begin(), tree.leaves.end());
    const auto count = static_cast<double>(std::max<size_t>(1, order.size()));
    height = std::min(kLeafHeight, kMostHeight / count);
    svg.text_within(0, 14, kFigureWidth, chart.title, "ink strong");
    svg.text_within(0, 32, kFigureWidth, chart.subtitle, "muted");
    if (std::ssize(order) > kMostNames) return;
    for (const int64_t thing : order)
      left = std::max(left, text_width(chart.names[static_cast<size_t>(thing)], 10.5) + 8);
    for (size_t row = 0; row < order.size(); ++row)
      svg.text(left - 6, middle(row) + 3.5, chart.names[static_cast<size_t>(order[row])], "ink small", Anchor::end);
  }
  double middle(size_t row) const { return kChartTop + height * (static_cast<double>(row) + 0.5); }
  double bottom() const { return kChartTop + height * static_cast<double>(order.size()); }

  Svg svg;
  std::vector<int64_t> order;
  double left = 0, height = 0;
};

/// One tree whose first leaf stands in row `first`.
void draw_tree(ClusterRows& rows, const LinkageTree& tree, size_t first, double cut, double scale) {
  struct Branch {
    double y = 0, distance = 0;
    int colour = -1;  // of a cluster; -1: above the cut
  };
  std::vector<Branch> branches(tree.members.size());
  for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
    const auto place = std::lower_bound(tree.members.begin(), tree.members.end(), tree.leaves[leaf]);
    branches[static_cast<size_t>(place - tree.members.begin())].y = rows.middle(first + leaf);
  }
  const double limit = tree.merges.empty() ? 0 : cut * tree.merges.back().distance;
  const std::vector<std::vector<int64_t>> clusters = tree.clusters(limit);
  for (size_t c = 0; c < clusters.size(); ++c)
    for (const int64_t member : clusters[c]) {
      const auto place = std::lower_bound(tree.members.begin(), tree.members.end(), member);
      branches[static_cast<size_t>(place - tree.members.begin())].colour = static_cast<int>(c) % kSeriesColours;
    }
  const auto x = [&](double distance) { return rows.left + (kFigureWidth - rows.left - 4) * distance * scale; };
  for (const Merge& merge : tree.merges) {
    const Branch &a = branches[static_cast<size_t>(merge.first)], &b = branches[static_cast<size_t>(merge.second)];
    const Branch joined{(a.y + b.y) / 2, merge.distance, merge.distance <= limit ? a.colour : -1};
    const std::string look = joined.colour < 0 ? std::string("class=\"control\" stroke-width=\"1.2\"")
                                               : fmt::format("class=\"l{}\" stroke-width=\"1.5\"", joined.colour);
    rows.svg.polyline({{x(a.distance), a.y}, {x(merge.distance), a.y}, {x(merge.distance), b.y}, {x(b.distance), b.y}},
                      look);
    branches.push_back(joined);
  }
}

/// A row of squares from `x` on, as moves of an SVG path: one rectangle for neighbours of one shade.
void add_cells(std::vector<std::string>& paths, const std::vector<int>& shades, size_t row) {
  for (size_t at = 0; at < shades.size();) {
    size_t end = at + 1;
    while (end < shades.size() && shades[end] == shades[at]) ++end;
    if (shades[at] >= 0)
      paths[static_cast<size_t>(shades[at])] += fmt::format("M{} {}h{}v1h-{}z", at, row, end - at, end - at);
    at = end;
  }
}

void draw_scale(Svg& svg, double y, double most, const std::string& distance) {
  for (int shade = 0; shade < kShades; ++shade)
    svg.rect(shade * kFigureWidth / kShades, y, kFigureWidth / kShades + 0.3, 9,
             fmt::format("fill=\"{}\"", shade_hex((shade + 0.5) / kShades)));
  svg.text(0, y + 24, "0 alike", "muted");
  svg.text(kFigureWidth, y + 24, fmt::format("{} far apart ({})", value_text(most), distance), "muted", Anchor::end);
}

}  // namespace

Svg draw_dendrogram(const ClusterChart& chart) {
  ClusterRows rows(chart);
  double most = 0;
  for (const LinkageTree& tree : chart.trees)
    if (!tree.merges.empty()) most = std::max(most, tree.merges.back().distance);
  const double scale = most > 0 ? 1 / most : 0, bottom = rows.bottom();
  for (const double tick : round_ticks(0, most > 0 ? most : 1, 4)) {
    if (tick > most) continue;
    const double x = rows.left + (kFigureWidth - rows.left - 4) * tick * scale;
    rows.svg.line(x, kChartTop, x, bottom, "class=\"grid\"");
    rows.svg.text(x, bottom + 16, fmt::format("{:g}", tick), "muted", tick > 0 ? Anchor::middle : Anchor::start);
  }
  size_t first = 0;
  for (const LinkageTree& tree : chart.trees) {
    draw_tree(rows, tree, first, chart.cut, scale);
    first += tree.leaves.size();
  }
  rows.svg.text(kFigureWidth, bottom + 34, "mean distance between the two sides, " + chart.distance, "muted",
                Anchor::end);
  rows.svg.set_height(bottom + 42);
  return rows.svg;
}

Svg draw_ordered_matrix(const ClusterChart& chart, const Distances& distances) {
  ClusterRows rows(chart);
  double most = 0;
  for (const double value : distances.values)
    if (std::isfinite(value)) most = std::max(most, value);
  std::vector<std::string> paths(kShades);
  for (size_t row = 0; row < rows.order.size(); ++row) {
    std::vector<int> shades;
    for (size_t column = 0; column < row; ++column) {
      const double value = distances.at(rows.order[row], rows.order[column]);
      const double place = most > 0 ? value / most : 0;
      shades.push_back(std::isfinite(value) ? std::min(kShades - 1, static_cast<int>(place * kShades)) : -1);
    }
    add_cells(paths, shades, row);
  }
  const double width = (kFigureWidth - rows.left) / static_cast<double>(std::max<size_t>(1, rows.order.size()));
  for (size_t shade = 0; shade < paths.size(); ++shade)
    if (!paths[shade].empty())
      rows.svg.path(
          paths[shade],
          fmt::format("transform=\"translate({:.2f} {}) scale({:.4f} {:.4f})\" shape-rendering=\"crispEdges\" "
                      "fill=\"{}\"",
                      rows.left, kChartTop, width, rows.height,
                      shade_hex((static_cast<double>(shade) + 0.5) / kShades)));
  const double bottom = rows.bottom();
  draw_scale(rows.svg, bottom + 10, most, chart.distance);
  rows.svg.set_height(bottom + 42);
  return rows.svg;
}

}  // namespace headprune
