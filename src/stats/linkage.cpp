#include "stats/linkage.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headprune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Clusters of one tree at work: those that are left, and how far apart they are.
class Linking {
 public:
  Linking(const Distances& distances, const std::vector<int64_t>& members)
      : size_(2 * members.size()), between_(size_ * size_, 0.0) {
    for (size_t i = 0; i < members.size(); ++i) {
      left_.push_back(i);
      sizes_.push_back(1);
      for (size_t j = 0; j < members.size(); ++j) between(i, j) = distances.at(members[i], members[j]);
    }
  }

  std::vector<Merge> merges() {
    std::vector<Merge> done;
    while (left_.size() > 1) {
      Merge best{.distance = kInfinity};
      for (size_t i = 0; i < left_.size(); ++i)
        for (size_t j = i + 1; j < left_.size(); ++j)  // ascending, so that of equal ones the first stays
          if (const double distance = between(left_[i], left_[j]); distance < best.distance)
            best = {static_cast<int64_t>(left_[i]), static_cast<int64_t>(left_[j]), distance, 0};
      join(best);
      done.push_back(best);
    }
    return done;
  }

 private:
  double& between(size_t a, size_t b) { return between_[a * size_ + b]; }

  void join(Merge& merge) {
    const auto a = static_cast<size_t>(merge.first), b = static_cast<size_t>(merge.second), made = sizes_.size();
    std::erase(left_, a);
    std::erase(left_, b);
    for (const size_t other : left_)
      between(made, other) = between(other, made) =
          (static_cast<double>(sizes_[a]) * between(a, other) + static_cast<double>(sizes_[b]) * between(b, other)) /
          static_cast<double>(sizes_[a] + sizes_[b]);
    left_.push_back(made);
    merge.size = sizes_[a] + sizes_[b];
    sizes_.push_back(merge.size);
  }

  size_t size_;
  std::vector<double> between_;
  std::vector<size_t> left_;  // ascending
  std::vector<int64_t> sizes_;
};

/// Members below a cluster, from left to right.
void walk(const LinkageTree& tree, int64_t cluster, std::vector<int64_t>& leaves) {
  std::vector<int64_t> open = {cluster};
  const int64_t members = std::ssize(tree.members);
  while (!open.empty()) {
    const int64_t at = open.back();
    open.pop_back();
    if (at < members) {
      leaves.push_back(tree.members[static_cast<size_t>(at)]);
      continue;
    }
    const Merge& merge = tree.merges[static_cast<size_t>(at - members)];
    open.push_back(merge.second);
    open.push_back(merge.first);
  }
}

}  // namespace

std::vector<std::vector<int64_t>> LinkageTree::clusters(double height) const {
  std::vector<std::vector<int64_t>> found;
  const int64_t count = std::ssize(members);
  std::vector<int64_t> open = {count + std::ssize(merges) - 1};
  while (!open.empty()) {
    const int64_t at = open.back();
    open.pop_back();
    if (at < count || merges[static_cast<size_t>(at - count)].distance <= height) {
      walk(*this, at, found.emplace_back());
      continue;
    }
    open.push_back(merges[static_cast<size_t>(at - count)].second);
    open.push_back(merges[static_cast<size_t>(at - count)].first);
  }
  return found;
}

std::vector<LinkageTree> average_linkage(const Distances& distances) {
  std::vector<LinkageTree> trees;
  for (int64_t one = 0; one < distances.count; ++one) {
    const auto fits = [&](const LinkageTree& tree) {
      return std::all_of(tree.members.begin(), tree.members.end(),
                         [&](int64_t other) { return std::isfinite(distances.at(one, other)); });
    };
    auto tree = std::find_if(trees.begin(), trees.end(), fits);
    if (tree == trees.end()) tree = trees.insert(trees.end(), LinkageTree());
    tree->members.push_back(one);
  }
  for (LinkageTree& tree : trees) {
    tree.merges = Linking(distances, tree.members).merges();
    walk(tree, std::ssize(tree.members) + std::ssize(tree.merges) - 1, tree.leaves);
  }
  return trees;
}

std::vector<NearestGone> nearest_first(const Distances& distances) {
  std::vector<bool> gone(static_cast<size_t>(distances.count), false);
  const auto distance = [&](int64_t a, int64_t b) {
    const double value = distances.at(a, b);
    return std::isfinite(value) ? value : kInfinity;
  };
  /// To what is left, or to what has gone, the smallest first.
  const auto sorted = [&](int64_t one, bool to_gone) {
    std::vector<double> all;
    for (int64_t other = 0; other < distances.count; ++other)
      if (other != one && gone[static_cast<size_t>(other)] == to_gone) all.push_back(distance(one, other));
    std::sort(all.begin(), all.end());
    return all;
  };
  std::vector<NearestGone> order;
  while (std::ssize(order) < distances.count) {
    std::vector<int64_t> nearest;  // those with the smallest distance to what is left
    double smallest = kInfinity;
    for (int64_t one = 0; one < distances.count; ++one) {
      if (gone[static_cast<size_t>(one)]) continue;
      double own = kInfinity;
      for (int64_t other = 0; other < distances.count; ++other)
        if (other != one && !gone[static_cast<size_t>(other)]) own = std::min(own, distance(one, other));
      if (own < smallest || nearest.empty()) nearest.clear(), smallest = own;
      if (own == smallest) nearest.push_back(one);
    }
    const auto goes = [&](int64_t a, int64_t b) {
      for (const bool to_gone : {false, true}) {
        const std::vector<double> of_a = sorted(a, to_gone), of_b = sorted(b, to_gone);
        if (of_a != of_b) return of_a < of_b;
      }
      return a < b;
    };
    const int64_t next = *std::min_element(nearest.begin(), nearest.end(), goes);
    gone[static_cast<size_t>(next)] = true;
    order.push_back({next, smallest});
  }
  return order;
}

}  // namespace headprune
