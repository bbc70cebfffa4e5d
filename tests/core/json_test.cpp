#include "core/json.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/error.h"
#include "support/catch.h"

using namespace headprune;

namespace {

std::string refusal(std::string_view text) {
  try {
    parse_json(text, "some.json");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
    return error.what();
  }
  return "accepted";
}

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("numbers print with the shortest digits that round-trip", "[core]") {
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(1) == "1.0");
  CHECK(number_text(-0.0) == "-0.0");
  CHECK(number_text(1e-5) == "1e-05");
  CHECK(number_text(5e-324) == "5e-324");
  CHECK(number_text(0.1 + 0.2) == "0.30000000000000004");
  CHECK(std::stod(number_text(1.0 / 3)) == 1.0 / 3);
  CHECK_THROWS_AS(number_text(kNan), std::logic_error);
  CHECK_THROWS_AS(number_text(-kInfinity), std::logic_error);
}

TEST_CASE("number_or_null gives null for what JSON cannot hold", "[core]") {
  CHECK(number_or_null(0.5) == Json(0.5));
  CHECK(number_or_null(kNan).is_null());
  CHECK(number_or_null(kInfinity).is_null());
}

TEST_CASE("JSON keeps the order of keys and replaces invalid UTF-8", "[core]") {
  const Json json = {{"z", 1}, {"a", {1.5, nullptr, true}}, {"t", "\xFF\xC3\xA4"}};
  CHECK(dump_json(json) == "{\"z\":1,\"a\":[1.5,null,true],\"t\":\"\xEF\xBF\xBD\xC3\xA4\"}");
  CHECK(dump_json_file({{"a", 1}}) == "{\n \"a\": 1\n}\n");
}

TEST_CASE("a non-finite number anywhere is refused, not printed as null", "[core]") {
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    CHECK_THROWS_AS(dump_json(bad), std::logic_error);
    CHECK_THROWS_AS(dump_json({{"a", {{"b", {1.0, bad}}}}}), std::logic_error);
    CHECK_THROWS_AS(dump_json_file(Json::array({bad})), std::logic_error);
    CHECK_THROWS_AS(canonical_json({{"a", bad}}), std::logic_error);
  }
}

TEST_CASE("canonical JSON sorts keys by bytes at all depths, without spaces", "[core]") {
  const Json json = {{"b", {{"z", 1}, {"Z", 2}, {"\xC3\xA4", 3}, {"", 4}}}, {"a", {{{"y", 1}, {"x", 0.1}}, -7, 1.0}}};
  CHECK(canonical_json(json) == "{\"a\":[{\"x\":0.1,\"y\":1},-7,1.0],\"b\":{\"\":4,\"Z\":2,\"z\":1,\"\xC3\xA4\":3}}");
  CHECK(canonical_json(Json::object()) == "{}");
  CHECK(canonical_json({{"n", nullptr}, {"t", true}, {"u", UINT64_MAX}}) ==
        R"({"n":null,"t":true,"u":18446744073709551615})");
}

TEST_CASE("canonical JSON has NFC strings and the fewest escapes", "[core]") {
  CHECK(canonical_json("e\xCC\x81") == "\"\xC3\xA9\"");
  CHECK(canonical_json(Json{{"e\xCC\x81", 1}}) == "{\"\xC3\xA9\":1}");
  CHECK(canonical_json("\"\\/\b\f\n\r\t\x01\x1f\x7f") == R"("\"\\/\b\f\n\r\t\u0001\u001f)"
                                                         "\x7f\"");
  CHECK(canonical_json(std::string("a\0b", 3)) == R"("a\u0000b")");
}

TEST_CASE("parsing keeps values, types and the order of keys", "[core]") {
  const char* text = R"({"b":[1,-2,3.5,1e-05,18446744073709551615,[],{}],"a":{"x":null,"t":true,"s":"\u00e4\n"}})";
  const Json json = parse_json(text, "some.json");
  CHECK(json == Json::parse(text));
  CHECK(json.begin().key() == "b");
  CHECK(json["b"][4] == UINT64_MAX);
  CHECK(parse_json(" 7 \n", "some.json") == 7);
  CHECK(parse_json(R"([{"a":1},{"a":2}])", "some.json").size() == 2);  // one key in two objects is fine
}

TEST_CASE("duplicate keys are refused at any depth, with the file and the byte", "[core]") {
  CHECK(refusal(R"({"a":1,"a":2})") == "some.json, byte 9: the key \"a\" appears twice in one object");
  CHECK_THAT(refusal(R"([0,{"b":{"c":1,"d":[],"c":1}}])"), ContainsSubstring("\"c\" appears twice"));
  CHECK_THAT(refusal("{\"a\":1,\"\\u0061\":2}"), ContainsSubstring("\"a\" appears twice"));
  CHECK_THROWS_AS(parse_json(R"({"a":1,"a":2})", "some.json"), DuplicateKeyError);
}

TEST_CASE("what is not exactly one JSON value is refused with the file and the byte", "[core]") {
  CHECK_THAT(refusal("{\"a\":1,}"), ContainsSubstring("some.json, byte 7: "));
  CHECK_THAT(refusal("{} {}"), ContainsSubstring("some.json, byte 3: "));
  for (const char* text : {"",       " ",           "{",        "[1,]",  "nan",   "NaN",           "Infinity",
                           "01",     "+1",          "'a'",      "{a:1}", "[1 2]", "// c\n1",       "\"\\x\"",
                           "\"\n\"", "\"\\ud800\"", "\"\xFF\"", "tru",   "1e400", "\xEF\xBB\xBF{}"}) {
    INFO(text);
    CHECK(refusal(text) != "accepted");
  }
}

TEST_CASE("a zero byte does not end the input early", "[core]") {
  CHECK(refusal(std::string_view("{}\0{", 4)) == "some.json, byte 2: a zero byte");
}

TEST_CASE("a bomb of nesting is refused and does not crash", "[core]") {
  CHECK_THAT(refusal(std::string(200000, '[')), ContainsSubstring("nested deeper than 1000 levels"));
  std::string deep = std::string(1000, '[') + std::string(1000, ']');
  CHECK(refusal(deep) == "accepted");
}
