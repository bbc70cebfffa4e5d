#include "report/gate/policy.h"

#include "core/error.h"
#include "support/catch.h"

using namespace headprune;

TEST_CASE("patterns match as shells' stars do, across slashes", "[policy]") {
  CHECK(pattern_matches("curve/*/loss", "curve/gradient_l1/one_shot/0.25/loss"));
  CHECK_FALSE(pattern_matches("curve/*/loss", "curve/gradient_l1/one_shot/0.25/accuracy"));
  CHECK_FALSE(pattern_matches("curve/*/loss", "auc/gradient_l1/one_shot/loss"));
  CHECK(pattern_matches("*", "anything/at/all"));
  CHECK(pattern_matches("a*b*c", "a-b-b-c"));
  CHECK_FALSE(pattern_matches("a*b*c", "a-c-b"));
  CHECK_FALSE(pattern_matches("loss", "los"));
  CHECK(pattern_matches("loss*", "loss"));
}

TEST_CASE("the longest pattern wins, the command line before it, the default last", "[policy]") {
  Policy policy;
  policy.fallback.abs = 1;
  policy.metrics["accuracy"].abs = 2;
  policy.metrics["curve/*/accuracy"].abs = 3;
  policy.metrics["*"].abs = 4;
  CHECK(policy.of("curve/m/s/0.5/accuracy", {}).abs == 3);
  CHECK(policy.of("base/accuracy", {}).abs == 2);
  CHECK(policy.of("base/loss", {}).abs == 4);
  policy.metrics.erase("*");
  CHECK(policy.of("base/loss", {}).abs == 1);
  const std::vector<PolicyRule> rules = {parse_policy_rule("accuracy:0.5"), parse_policy_rule("base/*:2%")};
  CHECK(policy.of("base/accuracy", rules).rel == 0.02);
  CHECK(policy.of("curve/m/s/0.5/accuracy", rules).abs == 0.5);
}

TEST_CASE("what is allowed is the larger of the absolute and the relative part", "[policy]") {
  Tolerance tolerance;
  tolerance.abs = 0.5;
  tolerance.rel = 0.1;
  CHECK(tolerance.allowed(2) == 0.5);
  CHECK(tolerance.allowed(-10) == 1);
  tolerance.exact = true;
  CHECK(tolerance.allowed(10) == 0);
}

TEST_CASE("a rule of the command line that cannot be understood is refused", "[policy]") {
  for (const char* text :
       {"accuracy", ":1", "accuracy:", "accuracy:x", "accuracy:-1", "accuracy:nan", "accuracy:1%%", "a b:1"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_policy_rule(text), Error);
  }
}
