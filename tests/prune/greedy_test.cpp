#include <cmath>

#include "core/error.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// A worth in which heads help and hinder each other, so that the best set of one size is not that of the next and one
/// more. Larger is better.
SelectValue worth(const HeadSet& removed) {
  double value = 0;
  std::vector<HeadId> kept;
  for (int64_t layer = 0; layer < 2; ++layer)
    for (int64_t head = 0; head < 3; ++head)
      if (!removed.contains(encoder_head(layer, head))) kept.push_back(encoder_head(layer, head));
  const auto number = [](const HeadId& head) { return static_cast<double>(3 * head.block.layer + head.head); };
  for (size_t i = 0; i < kept.size(); ++i) {
    value += std::sin(2 + 2 * number(kept[i]));
    for (size_t j = 0; j < i; ++j) value += 1.5 * std::cos(4 * number(kept[i]) + 5 * number(kept[j]));
  }
  return {value, -value};
}

/// The sets that a greedy walk visits, by trying every order of removal: at each size the best single change.
std::vector<HeadSet> brute_force(bool removes) {
  HeadSet gone = removes ? HeadSet() : HeadSet(all_heads(encoder_blocks({3, 3})));
  std::vector<HeadSet> sets = {gone};
  for (int step = 0; step < 6; ++step) {
    std::optional<HeadSet> best;
    for (const HeadId& head : all_heads(encoder_blocks({3, 3}))) {
      if (gone.contains(head) == removes) continue;
      std::vector<HeadId> heads = gone.heads();
      if (removes)
        heads.push_back(head);
      else
        std::erase(heads, head);
      if (!best || worth(HeadSet(heads)).headline > worth(*best).headline) best = HeadSet(heads);
    }
    sets.push_back(gone = *best);
  }
  return sets;
}

struct Walk {
  HeadsOnly model{encoder_blocks({3, 3})};
  NotingHost host{encoder_blocks({3, 3}), no_scores};
  explicit Walk(const std::string& options) {
    host.select_value = worth;
    const auto rule = make_rule("{greedy: {" + options + "}}");
    run(*rule, sweep_input("walk", "greedy", model, {}), model, host);
  }
  std::vector<HeadSet> sets() const {
    std::vector<HeadSet> all;
    for (const PlannedPoint& point : host.points) all.push_back(point.removed);
    return all;
  }
};

}  // namespace

TEST_CASE("greedy takes at each step the best single change", "[prune]") {
  CHECK((Walk("").sets() == brute_force(/*removes=*/true)));
  CHECK((Walk("direction: add").sets() == brute_force(/*removes=*/false)));
  const Walk walk("");
  // What is gone already is not computed again for each candidate, and the last step has no choice.
  CHECK(walk.host.calls == std::vector<std::string>{"select 6", "select 5 without 1", "select 4 without 2",
                                                    "select 3 without 3", "select 2 without 4"});
  CHECK(walk.host.points[2].forward == 3 * (6 + 5));
  CHECK(walk.host.points[2].spec.method == "greedy");
}

TEST_CASE("a beam finds sets that are at least as good, and of full width the best ones", "[prune]") {
  const std::vector<HeadSet> narrow = Walk("").sets(), wide = Walk("width: 20").sets();
  REQUIRE(narrow.size() == wide.size());
  double gained = 0;
  for (size_t size = 0; size < wide.size(); ++size) {
    // With twenty sets, as many as there are of three of six heads, none is lost: the best of every size.
    double best = -1e300;
    for (int set = 0; set < 64; ++set) {
      HeadSet removed;
      for (int h = 0; h < 6; ++h)
        if ((set >> h & 1) != 0) removed.insert(encoder_head(h / 3, h % 3));
      if (removed.size() == static_cast<int64_t>(size)) best = std::max(best, worth(removed).headline);
    }
    CHECK(worth(wide[size]).headline == Approx(best));
    gained += worth(wide[size]).headline - worth(narrow[size]).headline;
  }
  CHECK(gained > 0.1);  // the worth is one that a single set gets wrong
}

TEST_CASE("greedy counts its evaluations beforehand", "[prune]") {
  for (const char* options : {"", "direction: add", "until_fraction: 0.5", "direction: add, until_fraction: 0.5"}) {
    CAPTURE(options);
    const Walk walk(options);
    const auto rule = make_rule(std::string("{greedy: {") + options + "}}");
    const RulePlan plan = rule->plan(sweep_input("walk", "greedy", walk.model, {}));
    int64_t selected = 0;
    for (const std::string& call : walk.host.calls) selected += std::stoi(call.substr(7));
    CHECK(plan.select_masks() == selected);
    CHECK(plan.points() == std::ssize(walk.host.points));
  }
  CHECK(Walk("until_fraction: 0.5").host.points.size() == 4);
  CHECK(Walk("direction: add, until_fraction: 0.5").host.points.front().spec.heads_removed == 3);
}

TEST_CASE("an interrupted greedy sweep goes on from what it chose", "[prune]") {
  const Walk whole("");
  Walk again("until_fraction: 0");
  again.host.known = {whole.host.points[0], whole.host.points[1], whole.host.points[2], whole.host.points[3]};
  again.host.points.clear();
  again.host.calls.clear();
  const auto rule = make_rule("{greedy: {}}");
  run(*rule, sweep_input("walk", "greedy", again.model, {}), again.model, again.host);
  CHECK(again.host.calls == std::vector<std::string>{"select 3 without 3", "select 2 without 4"});
  REQUIRE(again.host.points.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK((again.host.points[i].removed == whole.host.points[i + 4].removed));
    CHECK(again.host.points[i].forward == whole.host.points[i + 4].forward);
  }
}

TEST_CASE("greedy leaves heads and kinds alone that may not go", "[prune]") {
  const Walk walk("min_heads_per_layer: 1");
  REQUIRE(walk.host.points.size() == 5);
  for (int64_t layer = 0; layer < 2; ++layer)
    CHECK(walk.host.points.back().removed.in_block({Kind::encoder, layer}).size() == 2);
  // So many groups stay that they have at least so many heads.
  Blocks grouped = encoder_blocks({8});
  grouped.front().heads_per_group = 2;
  HeadsOnly model(grouped);
  for (const auto& [least, groups] : {std::pair(2, 3), std::pair(3, 2), std::pair(8, 0)}) {
    NotingHost host(grouped, no_scores);
    host.select_value = [](const HeadSet& removed) { return SelectValue{-static_cast<double>(removed.size()), 0}; };
    const auto rule = make_rule(fmt::format("{{greedy: {{unit: group, min_heads_per_layer: {}}}}}", least));
    run(*rule, sweep_input("walk", "greedy", model, {}), model, host);
    CHECK(std::ssize(host.points) == 1 + groups);
  }
  CHECK_THROWS_WITH(make_rule("{greedy: {direction: add, min_heads_per_layer: 1}}"),
                    ContainsSubstring("is for direction: remove"));
}
