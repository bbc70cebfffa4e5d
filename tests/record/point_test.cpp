#include "record/point.h"

#include <cmath>

#include "core/error.h"
#include "support/catch.h"

using namespace headprune;

TEST_CASE("the id of a point is the hash of its canonical spec", "[record]") {
  // printf '%s' '{"draw":0,"experiment":"abc","heads_removed":4,"kind":"all","method":"gradient_l1","rule":"one_shot",
  // "seed":1,"sweep":"one_shot"}' (one line) | sha256sum | cut -c1-16, and likewise for the others.
  PointSpec spec;
  spec.seed = 1;
  spec.method = "gradient_l1";
  spec.draw = 0;
  spec.sweep = spec.rule = "one_shot";
  spec.kind = "all";
  spec.heads_removed = 4;
  CHECK(point_id("abc", spec) == "a51e3ecb0d3f9832");
  spec.heads_removed = 0;
  CHECK(point_id("abc", spec) == "7de9762e682c9a62");
  PointSpec base;
  base.seed = 1;
  base.rule = "none";
  CHECK(dump_json(base.to_json()) == R"({"seed":1,"rule":"none"})");
  CHECK(point_id("abc", base) == "20ee9a69ae705f65");
  CHECK(point_id("abd", base) != point_id("abc", base));
}

TEST_CASE("a spec holds only what applies and survives JSON", "[record]") {
  PointSpec spec;
  spec.seed = 7;
  spec.table = "leave_one_out";
  spec.kind = "cross";
  spec.layer = 0;
  spec.head = 3;
  spec.heads_removed = 1;
  CHECK(dump_json(spec.to_json()) ==
        R"({"seed":7,"table":"leave_one_out","kind":"cross","layer":0,"head":3,"heads_removed":1})");
  CHECK(PointSpec::from_json(spec.to_json()) == spec);
}

TEST_CASE("a finished point is written as docs/formats.md section 7 says and read back", "[record]") {
  PointResult result;
  result.point = "9f2c4e1ab07d35c8";
  result.spec.seed = 1;
  result.spec.sweep = result.spec.rule = "one_shot";
  result.spec.heads_removed = 1;
  result.step = 1;
  result.scope = "global";
  result.fraction = 0.25;
  result.heads_total = 4;
  result.removed.insert({{Kind::encoder, 0}, 1});
  result.mask = "ab";
  result.params = 100;
  result.attention_flops_per_token = 50;
  result.forward = 217;
  result.backward = 217;
  result.split = "report";
  result.dur_s = 0.5;
  Estimate accuracy{0.75, 8, 0.125, {{0.5, 0.875}}, "wilson"};
  Difference difference{-0.25, 0.0625, {{-0.5, 0.0}}, 0.5, "mcnemar"};
  result.metrics.push_back({"accuracy", accuracy, difference});
  result.metrics.push_back({"loss", {NAN, 8, {}, {}, ""}, Difference{NAN, {}, {}, {}, ""}});
  result.metrics.push_back({"perplexity", {4, 16, {}, {}, ""}, std::nullopt});
  const std::string expected =
      R"({"point":"9f2c4e1ab07d35c8","spec":{"seed":1,"sweep":"one_shot","rule":"one_shot","heads_removed":1},)"
      R"("step":1,"scope":"global","fraction":0.25,"heads_total":4,"removed":{"encoder":{"0":[1]}},)"
      R"("mask_sha256":"ab","params":100,"attention_flops_per_token":50,"forward":217,"backward":217,)"
      R"("split":"report","n":8,"dur_s":0.5,"metrics":{)"
      R"("accuracy":{"value":0.75,"stderr":0.125,"ci95":[0.5,0.875],"interval":"wilson",)"
      R"("delta":-0.25,"delta_stderr":0.0625,"delta_ci95":[-0.5,0.0],"p":0.5,"test":"mcnemar"},)"
      R"("loss":{"value":null,"nonfinite":"nan","delta":{"value":null,"nonfinite":"nan"}},)"
      R"("perplexity":{"value":4.0,"n":16}}})";
  CHECK(dump_json(result.to_json()) == expected);
  const PointResult back = PointResult::from_json(parse_json(expected, "test"));
  CHECK(dump_json(back.to_json()) == expected);
  REQUIRE(back.metric("loss") != nullptr);
  CHECK(std::isnan(back.metric("loss")->estimate.value));
  CHECK(back.metric("loss")->estimate.n == 8);
  CHECK(back.metric("perplexity")->estimate.n == 16);
  CHECK(back.metric("accuracy")->difference->p.value() == 0.5);
  CHECK(back.metric("f1") == nullptr);

  result.same_as = "03ab77d1c25e9f40";
  const Json same = result.to_json();
  CHECK(same.at("same_as") == "03ab77d1c25e9f40");
  CHECK_FALSE(same.contains("metrics"));
  CHECK(PointResult::from_json(same).same_as == result.same_as);
}
