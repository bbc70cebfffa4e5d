// Figures of heads that are near each other: their tree, and their distances in its order.
#include <fmt/format.h>

#include <set>

#include "report/draw/dendrogram.h"
#include "report/numbers/roles.h"
#include "report/page/figures.h"

namespace headprune {
std::vector<Figure> cluster_figures(const Record& record) {
  std::vector<Figure> figures;
  std::set<std::string> drawn;
  for (const RecordedAnalysis* analysis : shown_analyses(record)) {
    const std::string& label = analysis->done->analysis;
    for (const HeadMatrix& matrix : analysis->matrices) {
      if (!matrix.cut || !drawn.insert(label).second) continue;
      const Distances distances{matrix.heads(), matrix.distances()};
      const std::string distance = matrix.similarity ? "1 - " + matrix.name : matrix.name;
      ClusterChart chart{.title = fmt::format("{}: clusters of heads", label),
                         .subtitle = fmt::format("average linkage on {}; coloured up to {} of the largest merge",
                                                 distance, *matrix.cut),
                         .names = head_names(*analysis),
                         .trees = average_linkage(distances),
                         .cut = *matrix.cut,
                         .distance = distance};
      Figure tree{fmt::format("clusters-{}.svg", label), {draw_dendrogram(chart)}, label + ", tree of clusters", ""};
      chart.title = fmt::format("{}: distances of heads", label);
      chart.subtitle = "in the order of the tree; no cell where two cannot be compared";
      Figure map{fmt::format("distances-{}.svg", label),
                 {draw_ordered_matrix(chart, distances)},
                 label + ", heads by heads in the order of the tree",
                 ""};
      figures.push_back(std::move(tree));
      figures.push_back(std::move(map));
    }
  }
  return figures;
}

}  // namespace headprune
