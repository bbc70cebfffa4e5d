#include "core/heads.h"

#include <algorithm>
#include <stdexcept>

#include "core/error.h"
#include "support/catch.h"

using namespace headprune;

namespace {

const Blocks kBlocks = {{{Kind::encoder, 0}, {0, 1, 2, 3}},
                        {{Kind::encoder, 1}, {0, 1, 2, 3}},
                        {{Kind::decoder, 0}, {0, 1}},
                        {{Kind::cross, 0}, {0, 1}}};

const HeadSet kRemoved(std::vector<HeadId>{{{Kind::cross, 0}, 1}, {{Kind::decoder, 0}, 0}, {{Kind::encoder, 0}, 1}});

}  // namespace

TEST_CASE("kinds, blocks and heads print as docs/formats.md section 1 has them", "[core]") {
  CHECK(to_string(BlockId{Kind::encoder, 3}) == "encoder.L3");
  CHECK(to_string(HeadId{{Kind::cross, 11}, 7}) == "cross.L11.H7");
  for (const Kind kind : {Kind::encoder, Kind::decoder, Kind::cross}) CHECK(parse_kind(to_string(kind)) == kind);
}

TEST_CASE("another kind of attention is a usage error that lists the kinds", "[core]") {
  try {
    parse_kind("self");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK_THAT(error.what(), ContainsSubstring("'self'; use encoder, decoder or cross"));
  }
}

TEST_CASE("heads order by kind, layer, head", "[core]") {
  std::vector<HeadId> heads = {
      {{Kind::cross, 0}, 0}, {{Kind::encoder, 10}, 0}, {{Kind::decoder, 0}, 1}, {{Kind::encoder, 2}, 5}};
  std::sort(heads.begin(), heads.end());
  std::vector<std::string> names;
  for (const auto& head : heads) names.push_back(to_string(head));
  CHECK(names == std::vector<std::string>{"encoder.L2.H5", "encoder.L10.H0", "decoder.L0.H1", "cross.L0.H0"});
}

TEST_CASE("all heads of the blocks, in their order", "[core]") {
  const auto heads = all_heads(kBlocks);
  REQUIRE(heads.size() == 12);
  CHECK(to_string(heads.front()) == "encoder.L0.H0");
  CHECK(to_string(heads[4]) == "encoder.L1.H0");
  CHECK(to_string(heads.back()) == "cross.L0.H1");
}

TEST_CASE("groups are units of the heads that are present", "[core]") {
  const BlockId first{Kind::decoder, 0}, second{Kind::decoder, 1};
  const Blocks blocks = {{.id = first, .heads = {0, 1, 4}, .heads_per_group = 2},
                         {.id = second, .heads = {}, .heads_per_group = 2}};
  CHECK(in_units(blocks, HeadUnit::query) == blocks);
  const Blocks groups = in_units(blocks, HeadUnit::group);
  CHECK(groups.at(0).heads == std::vector<int64_t>{0, 2});
  CHECK(groups.at(1).heads.empty());
  CHECK(blocks[0].heads_by_group() == std::map<int64_t, int64_t>{{0, 2}, {2, 1}});
  CHECK(heads_of_units(HeadSet(std::vector<HeadId>{{first, 0}}), blocks, HeadUnit::group) ==
        HeadSet({{first, 0}, {first, 1}}));
  // Group 1 never had a head here; group 0 keeps one, group 2 none.
  const HeadSet removed({{first, 1}, {first, 4}});
  CHECK(units_without(removed, blocks, HeadUnit::group) == HeadSet(std::vector<HeadId>{{first, 2}}));
  CHECK(units_without(removed, blocks, HeadUnit::query) == removed);
  CHECK(unit_text({first, 2}, HeadUnit::group) == "group decoder.L0.G2");
}

TEST_CASE("a head set holds each head once, ascending, whatever the order of insertion", "[core]") {
  const BlockId block{Kind::encoder, 3};
  HeadSet set;
  CHECK(set.empty());
  for (const int64_t head : {5, 2, 5, 9, 0}) set.insert({block, head});
  CHECK(set.size() == 4);
  CHECK(set.in_block(block) == std::vector<int64_t>{0, 2, 5, 9});
  CHECK(set.contains({block, 9}));
  CHECK_FALSE(set.contains({block, 1}));
  CHECK_FALSE(set.contains({{Kind::decoder, 3}, 9}));
  CHECK(set.in_block({Kind::encoder, 4}).empty());
  CHECK(HeadSet(set.heads()) == set);
}

TEST_CASE("a head set as JSON omits empty parts and orders layers by number", "[core]") {
  CHECK(dump_json(HeadSet().to_json()) == "{}");
  HeadSet set = kRemoved;
  set.insert({{Kind::encoder, 10}, 3});
  set.insert({{Kind::encoder, 2}, 3});
  set.insert({{Kind::encoder, 2}, 0});
  CHECK(dump_json(set.to_json()) ==
        R"({"encoder":{"0":[1],"2":[0,3],"10":[3]},"decoder":{"0":[0]},"cross":{"0":[1]}})");
  CHECK(HeadSet::from_json(set.to_json()) == set);
}

TEST_CASE("JSON that is not a head set is refused", "[core]") {
  for (const char* text :
       {"[]", R"({"self":{"0":[1]}})", R"({"encoder":[1]})", R"({"encoder":{"00":[1]}})", R"({"encoder":{"-1":[1]}})",
        R"({"encoder":{"x":[1]}})", R"({"encoder":{"0":1}})", R"({"encoder":{"0":[1.0]}})", R"({"encoder":{"0":[-1]}})",
        R"({"encoder":{"0":[2,1]}})", R"({"encoder":{"0":[1,1]}})", R"({"encoder":{"0":["1"]}})"}) {
    INFO(text);
    CHECK_THROWS_AS(HeadSet::from_json(Json::parse(text)), Error);
  }
}

// python3: hashlib.sha256(b"encoder.L0 1011\nencoder.L1 1111\ndecoder.L0 01\ncross.L0 10\n").hexdigest()
TEST_CASE("mask_sha256 is the hash of one line per block, 1 = kept", "[core]") {
  CHECK(mask_sha256(kBlocks, kRemoved) == "afd93287361b73c0af7ebce29bbc79e19f15c5f0e60f671137078cd64b5fb710");
  // hashlib.sha256(b"encoder.L0 11\n")
  CHECK(mask_sha256({{{Kind::encoder, 0}, {0, 1}}}, HeadSet()) ==
        "3a0ae74e50021aa2973205ca2c299a730f49f97923fa451c77b255513ad7edcb");
}

TEST_CASE("mask_sha256 refuses a removed head that the model never had", "[core]") {
  CHECK_THROWS_AS(mask_sha256(kBlocks, HeadSet(std::vector<HeadId>{{{Kind::encoder, 0}, 4}})), std::logic_error);
}
