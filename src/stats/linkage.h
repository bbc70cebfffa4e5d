// Things that are near each other: clusters by average linkage (UPGMA), and the order in which near duplicates go.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace headprune {

/// Of `count` things with each other: symmetric, row by row, not negative; NaN where two cannot be compared.
struct Distances {
  int64_t count = 0;
  std::vector<double> values;  // [count count]

  double at(int64_t a, int64_t b) const { return values[static_cast<size_t>(a * count + b)]; }
};

/// Two clusters that become one. Up to the number of members a cluster is one of them (its place), from there on the
/// i-th merge.
struct Merge {
  int64_t first = 0, second = 0;  // first < second
  double distance = 0;            // mean over all pairs across
  int64_t size = 0;               // members of both
};

/// Things that can all be compared with each other, merged until one cluster is left: as
/// scipy.cluster.hierarchy.linkage(method="average") does, of equal distances the pair with the lower places first.
struct LinkageTree {
  std::vector<int64_t> members;  // ascending
  std::vector<Merge> merges;     // one fewer than members, distances ascending
  std::vector<int64_t> leaves;   // the members so that no branches cross, the first of a merge on the left

  /// Merges at no more than `height`: clusters of members, in the order of `leaves`.
  std::vector<std::vector<int64_t>> clusters(double height) const;
};

/// A tree for all things that can be compared: each joins the first tree with all of whose members it can.
std::vector<LinkageTree> average_linkage(const Distances& distances);

struct NearestGone {
  int64_t thing = 0;
  double distance = 0;  // to the nearest thing that was left; infinite where it can be compared with none of them
};
/// From the first to go to the last, distances ascending. At each step the thing goes that has the smallest distance to
/// one that is left; of those that share it, as the two of the closest pair do, the one whose next smallest distance to
/// what is left is smaller, and so on; then the one that is nearer to what has gone, in the same way; then the earlier.
std::vector<NearestGone> nearest_first(const Distances& distances);

}  // namespace headprune
