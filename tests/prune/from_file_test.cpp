#include "core/error.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

std::vector<PlannedPoint> run_file(const std::string& text, const std::string& options = "") {
  const TestFolder folder;
  const std::string file = folder.write("heads.json", text).string();
  const Blocks blocks = encoder_blocks({2, 2});
  HeadsOnly model(blocks);
  NotingHost host(blocks, no_scores);
  const auto rule = make_rule("{from_file: {path: '" + file + "'" + options + "}}");
  const RuleInput input = sweep_input("mine", "from_file", model, {{"random", 5}});
  const std::vector<PlannedPoint> listed = planned(*rule, input);
  run(*rule, input, model, host);
  CHECK(host.calls.empty());  // no score is asked for
  REQUIRE(listed.size() == host.points.size());
  for (size_t i = 0; i < listed.size(); ++i) CHECK(listed[i].removed == host.points[i].removed);
  return host.points;
}

std::string error_of(const std::string& text, const std::string& options = "") {
  const TestFolder folder;
  const std::string file = folder.write("heads.json", text).string();
  const auto rule = make_rule("{from_file: {path: '" + file + "'" + options + "}}");
  try {
    rule->plan(sweep_input("mine", "from_file", HeadsOnly(encoder_blocks({2, 2})), {}));
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK_THAT(error.what(), ContainsSubstring(file));
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an order from a file is removed head after head, or at fractions", "[prune]") {
  const std::string order = R"({"order":["encoder.L1.H0","encoder.L0.H1","encoder.L0.H0"]})";
  const std::vector<PlannedPoint> every = run_file(order);
  REQUIRE(every.size() == 4);
  CHECK(every[0].removed.empty());
  CHECK(names(every[1].removed) == std::vector<std::string>{"encoder.L1.H0"});
  CHECK(names(every[2].removed) == std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H0"});
  CHECK(every[3].fraction == 0.75);
  CHECK(every[1].spec.method.empty());
  CHECK_FALSE(every[1].spec.draw.has_value());
  CHECK((every[1].spec.rule == "from_file" && every[1].spec.kind == "all" && every[1].heads_total == 4));

  const std::vector<PlannedPoint> some = run_file(order, ", fractions: [0.5, 0]");
  REQUIRE(some.size() == 2);
  CHECK(some[1].removed == every[2].removed);
  CHECK((some[1].forward == 0 && some[1].backward == 0));
}

TEST_CASE("masks from a file are taken as they are, each a point of its own", "[prune]") {
  const std::vector<PlannedPoint> points =
      run_file(R"({"masks":[{"encoder":{"0":[1]}},{"name":"no.l1-h0","removed":{"encoder":{"1":[0]}}},{},)"
               R"({"name":"most","removed":{"encoder":{"0":[0,1],"1":[1]}}},{"encoder":{"0":[1]}}]})");
  REQUIRE(points.size() == 5);  // the last has the first's mask and another name; it is evaluated once
  CHECK(names(points[0].removed) == std::vector<std::string>{"encoder.L0.H1"});
  CHECK(names(points[1].removed) == std::vector<std::string>{"encoder.L1.H0"});
  CHECK(points[2].removed.empty());
  CHECK(points[3].removed.size() == 3);
  // Equal in number of heads, told apart by name and mask; `draw` is for random repetition alone.
  CHECK_FALSE(points[0].spec == points[1].spec);
  CHECK(points[0].spec.name == "mask_0");
  CHECK(points[1].spec.name == "no.l1-h0");
  CHECK(points[1].spec.mask.size() == 64);
  CHECK(points[0].spec.mask != points[1].spec.mask);
  CHECK(points[4].spec.mask == points[0].spec.mask);
  for (const PlannedPoint& point : points) CHECK_FALSE(point.spec.draw.has_value());
}

TEST_CASE("masks need names that differ and can stand in a key", "[prune]") {
  CHECK_THAT(error_of(R"({"masks":[{"name":"a","removed":{}},{"name":"a","removed":{}}]})"),
             ContainsSubstring("masks[1]: masks[0] is called \"a\" too"));
  CHECK_THAT(error_of(R"({"masks":[{"name":"mask_1","removed":{}},{}]})"),
             ContainsSubstring("is called \"mask_1\" too"));
  CHECK_THAT(error_of(R"({"masks":[{"name":"a b","removed":{}}]})"), ContainsSubstring("\"a b\" is no name"));
  CHECK_THAT(error_of(R"({"masks":[{"name":3,"removed":{}}]})"), ContainsSubstring("3 is no name"));
  CHECK_THAT(error_of(R"({"masks":[{"name":"a"}]})"), ContainsSubstring("with both keys and no other"));
  CHECK_THAT(error_of(R"({"masks":[{"name":"a","removed":{},"note":""}]})"), ContainsSubstring("no other"));
}

TEST_CASE("files that do not hold an order or masks are refused with the file and what is wrong", "[prune]") {
  CHECK_THAT(error_of("{\"order\":"), ContainsSubstring("heads.json"));
  CHECK_THAT(error_of("[]"), ContainsSubstring("the key \"order\" or the key \"masks\""));
  CHECK_THAT(error_of("{}"), ContainsSubstring("the key \"order\" or the key \"masks\""));
  CHECK_THAT(error_of(R"({"order":["encoder.L0.H0"],"masks":[{}]})"), ContainsSubstring("and no other"));
  CHECK_THAT(error_of(R"({"order":["encoder.L0.H0"],"note":"x"})"), ContainsSubstring("and no other"));
  CHECK_THAT(error_of(R"({"order":[]})"), ContainsSubstring("\"order\" is not a list with entries"));
  CHECK_THAT(error_of(R"({"order":["encoder.L0.H0","encoder.0.1"]})"),
             ContainsSubstring("order[1]: \"encoder.0.1\" is not a head such as \"encoder.L0.H1\""));
  CHECK_THAT(error_of(R"({"order":["encoder.L-1.H0"]})"), ContainsSubstring("is not a head"));
  CHECK_THAT(error_of(R"({"order":[3]})"), ContainsSubstring("order[0]: 3 is not a head"));
  CHECK_THAT(error_of(R"({"order":["encoder.L0.H2"]})"), ContainsSubstring("the model has no head encoder.L0.H2"));
  CHECK_THAT(error_of(R"({"order":["decoder.L0.H0"]})"), ContainsSubstring("the model has no head decoder.L0.H0"));
  CHECK_THAT(error_of(R"({"order":["encoder.L0.H0","encoder.L0.H0"]})"),
             ContainsSubstring("order[1]: encoder.L0.H0 is listed twice"));
  CHECK_THAT(error_of(R"({"masks":[{"encoder":{"0":[5]}}]})"), ContainsSubstring("masks[0]: the model has no head"));
  CHECK_THAT(error_of(R"({"masks":[{},{"middle":{"0":[1]}}]})"), ContainsSubstring("masks[1]"));
  CHECK_THAT(error_of(R"({"masks":[{}]})", ", fractions: [0.5]"), ContainsSubstring("drop `fractions`"));
  CHECK_THAT(error_of(R"({"order":["encoder.L0.H0"]})", ", fractions: [0.5]"),
             ContainsSubstring("largest fraction that can be reached is 0.25"));
}
