#include "prune/order.h"

#include "core/error.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

PerBlock values_of(const std::vector<std::vector<double>>& values) {
  PerBlock result;
  for (const auto& block : values) result.push_back(torch::tensor(block, torch::kFloat64));
  return result;
}

/// Two kinds, out of step with each other: encoder.L0, decoder.L0, decoder.L1 with 2, 1 and 3 heads.
Blocks mixed_blocks() {
  return {{{Kind::encoder, 0}, {0, 1}}, {{Kind::decoder, 0}, {4}}, {{Kind::decoder, 1}, {0, 2, 5}}};
}

OrderLimits limits(Scope scope, int64_t min_heads) {
  return {.scope = scope, .kinds = {}, .min_heads_per_layer = min_heads};
}

}  // namespace

TEST_CASE("an order ascends by value, and ties break by kind, layer, head", "[prune]") {
  const PerBlock values = values_of({{2, 1}, {1}, {3, 1, 0}});
  CHECK(names(ascending_order(mixed_blocks(), values, {}, {})) ==
        std::vector<std::string>{"decoder.L1.H5", "encoder.L0.H1", "decoder.L0.H4", "decoder.L1.H2", "encoder.L0.H0",
                                 "decoder.L1.H0"});
}

TEST_CASE("an order leaves out removed heads and other kinds", "[prune]") {
  const PerBlock values = values_of({{2, 1}, {1}, {3, 1, 0}});
  const HeadSet removed({{{Kind::decoder, 1}, 2}});
  CHECK(names(ascending_order(mixed_blocks(), values, removed, {Kind::decoder})) ==
        std::vector<std::string>{"decoder.L1.H5", "decoder.L0.H4", "decoder.L1.H0"});
}

TEST_CASE("a fraction f of N heads removes floor(f N + 0.5)", "[prune]") {
  CHECK(heads_for_fraction(0, 16) == 0);
  CHECK(heads_for_fraction(1, 16) == 16);
  CHECK(heads_for_fraction(0.25, 16) == 4);
  CHECK(heads_for_fraction(0.03, 16) == 0);     // 0.48
  CHECK(heads_for_fraction(0.03125, 16) == 1);  // exactly half a head
  CHECK(heads_for_fraction(0.5, 3) == 2);
  CHECK(heads_for_fraction(0.3, 10) == 3);
  CHECK(heads_for_fraction(0.7, 10) == 7);
  CHECK(heads_for_fraction(0.5, 0) == 0);
}

TEST_CASE("kinds print in their own order, whatever order they were given in", "[prune]") {
  CHECK(kinds_text({}) == "all");
  CHECK(kinds_text({Kind::cross}) == "cross");
  CHECK(kinds_text({Kind::cross, Kind::encoder, Kind::cross}) == "encoder+cross");
}

TEST_CASE("kinds count their own heads alone, and a kind that the model lacks is an error", "[prune]") {
  CHECK(count_heads(mixed_blocks(), {}) == 6);
  CHECK(count_heads(mixed_blocks(), {Kind::decoder}) == 4);
  CHECK_THROWS_WITH(count_heads(mixed_blocks(), {Kind::cross}),
                    ContainsSubstring("kinds: cross: the model has no head of that kind"));
  const OrderLimits only{.scope = Scope::global, .kinds = {Kind::decoder}, .min_heads_per_layer = 0};
  CHECK(removal_target(0.5, mixed_blocks(), only).heads == 2);
}

TEST_CASE("scope layer removes the same fraction of every block", "[prune]") {
  const Blocks blocks = encoder_blocks({4, 2, 0, 3});
  const RemovalTarget half = removal_target(0.5, blocks, limits(Scope::layer, 0));
  CHECK(half.per_block == std::vector<int64_t>{2, 1, 0, 2});
  CHECK(half.heads == 5);
  const std::vector<HeadId> order = ascending_order(blocks, values_of({{1, 2, 3, 4}, {5, 6}, {}, {9, 8, 7}}), {}, {});
  CHECK(names(choose_heads(order, blocks, limits(Scope::layer, 0), half, {})) ==
        std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H1", "encoder.L1.H0", "encoder.L3.H1", "encoder.L3.H2"});
  // The global ranking of the same values takes all of the first block first.
  const RemovalTarget same{.heads = 5, .per_block = {}};
  CHECK(names(choose_heads(order, blocks, limits(Scope::global, 0), same, {})) ==
        std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H1", "encoder.L0.H2", "encoder.L0.H3", "encoder.L1.H0"});
}

TEST_CASE("min_heads_per_layer protects each block's best heads, and the removal goes on down the order", "[prune]") {
  const Blocks blocks = encoder_blocks({3, 3});
  const std::vector<HeadId> order = ascending_order(blocks, values_of({{1, 2, 3}, {4, 5, 6}}), {}, {});
  const OrderLimits keep_one = limits(Scope::global, 1);
  CHECK(names(choose_heads(order, blocks, keep_one, removal_target(0.5, blocks, keep_one), {})) ==
        std::vector<std::string>{"encoder.L0.H0", "encoder.L0.H1", "encoder.L1.H0"});
}

TEST_CASE("a number of heads that cannot be reached is an error that names the largest fraction", "[prune]") {
  const Blocks blocks = encoder_blocks({4, 4});
  const auto message = [&](double fraction, const OrderLimits& what) {
    try {
      removal_target(fraction, blocks, what);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(message(1, limits(Scope::global, 1)), ContainsSubstring("largest fraction that can be reached is 0.75"));
  CHECK_THAT(message(0.9, limits(Scope::global, 1)), ContainsSubstring("removes 7 of 8 heads"));
  CHECK(message(0.75, limits(Scope::global, 1)).empty());
  CHECK_THAT(message(0.75, limits(Scope::layer, 2)), ContainsSubstring("largest fraction that can be reached is 0.5"));
  CHECK(message(0.5, limits(Scope::layer, 2)).empty());
  // The smallest block decides under scope layer; under scope global the others make up for it.
  const Blocks ragged = encoder_blocks({4, 1});
  CHECK(largest_fraction(ragged, limits(Scope::layer, 1)) == 0);
  CHECK(largest_fraction(ragged, limits(Scope::global, 1)) == Approx(0.6));
  CHECK(largest_fraction(ragged, limits(Scope::global, 3)) == Approx(0.2));
}

TEST_CASE("every largest fraction is itself reachable", "[prune]") {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{1}, {3, 3}, {7, 1, 2}, {12, 12, 12}, {5, 0, 3}}) {
    for (int64_t keep = 0; keep <= 4; ++keep) {
      for (const Scope scope : {Scope::global, Scope::layer}) {
        const Blocks blocks = encoder_blocks(sizes);
        const OrderLimits what = limits(scope, keep);
        const RemovalTarget target = removal_target(largest_fraction(blocks, what), blocks, what);
        CHECK(choose_heads(all_heads(blocks), blocks, what, target, {}).size() == target.heads);
      }
    }
  }
}

TEST_CASE("fractions are sorted, and those that remove the same number are merged with a message", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  const TargetList list = removal_targets({1, 0, 0.5, 0.45, 0.55}, blocks, {});
  REQUIRE(list.targets.size() == 3);
  CHECK(list.targets[0].heads == 0);
  CHECK(list.targets[1].heads == 2);
  CHECK(list.targets[2].heads == 4);
  REQUIRE(list.messages.size() == 2);
  CHECK_THAT(list.messages[0], ContainsSubstring("fractions 0.45 and 0.5 both remove 2 of 4 heads"));
}

TEST_CASE("heads that are gone already count, and stay gone", "[prune]") {
  const Blocks blocks = encoder_blocks({2, 2});
  const HeadSet already({encoder_head(1, 1)});
  const std::vector<HeadId> order = {encoder_head(0, 1), encoder_head(1, 0), encoder_head(0, 0)};
  const RemovalTarget two{.heads = 2, .per_block = {}};
  CHECK(names(choose_heads(order, blocks, {}, two, already)) ==
        std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H1"});
  const RemovalTarget three{.heads = 3, .per_block = {}};
  CHECK(names(choose_heads(order, blocks, limits(Scope::global, 1), two, already)) ==
        std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H1"});
  CHECK_THROWS_WITH(choose_heads(order, blocks, limits(Scope::global, 1), three, already),
                    ContainsSubstring("largest fraction that can be reached is 0.5"));
}
