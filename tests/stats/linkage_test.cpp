// Average linkage against scipy, the order in which near duplicates go, ties, and things that cannot be compared.
#include "stats/linkage.h"

#include <cmath>
#include <map>

#include "core/files.h"
#include "core/json.h"
#include "support/catch.h"

using namespace headprune;

namespace {

Distances distances_of(const std::vector<std::vector<double>>& rows) {
  Distances distances{.count = std::ssize(rows), .values = {}};
  for (const std::vector<double>& row : rows) distances.values.insert(distances.values.end(), row.begin(), row.end());
  return distances;
}

std::vector<int64_t> order_of(const Distances& distances) {
  std::vector<int64_t> order;
  for (const NearestGone& gone : nearest_first(distances)) order.push_back(gone.thing);
  return order;
}

}  // namespace

TEST_CASE("average linkage is scipy's, and so are its leaves and clusters", "[stats][linkage]") {
  const fs::path path = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/linkage.json";
  for (const Json& one : parse_json(read_file(path), path.string())) {
    const Distances distances = distances_of(one["distances"].get<std::vector<std::vector<double>>>());
    CAPTURE(distances.count);
    const std::vector<LinkageTree> trees = average_linkage(distances);
    REQUIRE(trees.size() == 1);
    REQUIRE(trees[0].merges.size() == one["merges"].size());
    for (size_t i = 0; i < trees[0].merges.size(); ++i) {
      const Json& merge = one["merges"][i];
      CHECK(trees[0].merges[i].first == merge[0]);
      CHECK(trees[0].merges[i].second == merge[1]);
      CHECK(trees[0].merges[i].distance == Approx(merge[2].get<double>()).epsilon(1e-13));
      CHECK(trees[0].merges[i].size == merge[3]);
    }
    CHECK(trees[0].leaves == one["leaves"].get<std::vector<int64_t>>());
    std::map<int64_t, int64_t> ours, theirs;  // of a thing, and scipy's name of ours
    const auto clusters = trees[0].clusters(0.7 * trees[0].merges.back().distance);
    for (size_t c = 0; c < clusters.size(); ++c)
      for (const int64_t thing : clusters[c]) ours[thing] = static_cast<int64_t>(c);
    REQUIRE(std::ssize(ours) == distances.count);
    for (const auto& [thing, cluster] : ours) {
      const auto name = one["clusters"][static_cast<size_t>(thing)].get<int64_t>();
      CHECK(theirs.emplace(cluster, name).first->second == name);
    }
    CHECK(theirs.size() == clusters.size());
    const std::vector<NearestGone> order = nearest_first(distances);
    REQUIRE(order.size() == one["nearest_first"].size());
    for (size_t i = 0; i < order.size(); ++i) {
      const Json& gone = one["nearest_first"][i];
      CHECK(order[i].thing == gone[0]);
      if (gone[1].is_null())
        CHECK(std::isinf(order[i].distance));
      else
        CHECK(order[i].distance == gone[1].get<double>());
      if (i > 0) CHECK(order[i].distance >= order[i - 1].distance);
    }
  }
}

TEST_CASE("of equal distances the pair with the lower places is merged first", "[stats][linkage]") {
  const Distances square = distances_of({{0, 1, 2, 1}, {1, 0, 1, 2}, {2, 1, 0, 1}, {1, 2, 1, 0}});
  const LinkageTree tree = average_linkage(square).at(0);
  CHECK((tree.merges[0].first == 0 && tree.merges[0].second == 1));
  CHECK((tree.merges[1].first == 2 && tree.merges[1].second == 3));
  CHECK(tree.merges[2].distance == 1.5);
  CHECK(tree.leaves == std::vector<int64_t>{0, 1, 2, 3});
  // All four alike: the earlier goes. Then 2 has two neighbours left, and 1 and 3 are alike.
  CHECK(order_of(square) == std::vector<int64_t>{0, 2, 1, 3});
}

TEST_CASE("of the closest pair the one that is nearer to others goes", "[stats][linkage]") {
  // On a line: 0, 1, 3, 10. 0 and 1 are closest, and 1 is nearer to 3; then 3 is nearer to 10 than 0 is; of the last
  // two, as far from each other, 0 is nearer to what has gone.
  const std::vector<double> places = {0, 1, 3, 10};
  std::vector<std::vector<double>> rows;
  for (const double a : places) {
    rows.emplace_back();
    for (const double b : places) rows.back().push_back(std::abs(a - b));
  }
  CHECK(order_of(distances_of(rows)) == std::vector<int64_t>{1, 2, 0, 3});
}

TEST_CASE("what cannot be compared has trees of its own, and stays longest", "[stats][linkage]") {
  const double no = std::numeric_limits<double>::quiet_NaN();
  const Distances two = distances_of({{0, no, 2, no}, {no, 0, no, 1}, {2, no, 0, no}, {no, 1, no, 0}});
  const std::vector<LinkageTree> trees = average_linkage(two);
  REQUIRE(trees.size() == 2);
  CHECK(trees[0].members == std::vector<int64_t>{0, 2});
  CHECK(trees[1].leaves == std::vector<int64_t>{1, 3});
  const std::vector<NearestGone> order = nearest_first(two);
  CHECK((order[0].thing == 1 && order[0].distance == 1));
  CHECK((order[1].thing == 0 && order[1].distance == 2));
  CHECK((std::isinf(order[2].distance) && std::isinf(order[3].distance)));
  CHECK(average_linkage({}).empty());
  CHECK(average_linkage(distances_of({{0}})).at(0).clusters(0).at(0) == std::vector<int64_t>{0});
}
