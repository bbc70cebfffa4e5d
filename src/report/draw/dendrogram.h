// Trees of clusters, and a matrix in the order of their leaves, as SVG.
#pragma once

#include <string>
#include <vector>

#include "report/draw/svg.h"
#include "stats/linkage.h"

namespace headprune {

/// Things with the trees that average linkage makes of them.
struct ClusterChart {
  std::string title, subtitle;
  std::vector<std::string> names;  // of all things
  std::vector<LinkageTree> trees;
  double cut = 0;        // branches of one colour: merged at no more than this share of a tree's largest distance
  std::string distance;  // what it is
};

/// A row for each thing from above, branches to the right of it. Names are left out where there are too many to read.
Svg draw_dendrogram(const ClusterChart& chart);
/// The half of a symmetric matrix below its diagonal, rows and columns in the order of the leaves.
Svg draw_ordered_matrix(const ClusterChart& chart, const Distances& distances);

}  // namespace headprune
