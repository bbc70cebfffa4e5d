// The YAML dialect: bytes, limits, and what the tree keeps.
#include "config/document.h"

#include "support/catch.h"
#include "zoo.h"

namespace headprune::zoo {

namespace {

ConfigNode tree(const std::string& text) {
  Problems problems;
  const auto source = std::make_shared<const Source>(Source{"t.yaml", 0});
  const std::optional<ConfigNode> node = parse_config(text, source, problems);
  problems.throw_if_any();
  REQUIRE(node.has_value());
  return *node;
}

}  // namespace

TEST_CASE("a byte-order mark and CRLF change neither values nor places", "[config]") {
  const std::string text = "\xEF\xBB\xBFname: a\r\ndata: {type: synthetic}\r\nmodel:\r\n  heads: 2\r\n";
  CHECK(load_text(text).value.model.heads == 2);
  CHECK(problems_of(text + "  d_model: x\r\n") == "f.yaml:5:12: model.d_model: expected a whole number, got 'x'");
}

TEST_CASE("bytes that are not UTF-8 text are refused with their place", "[config]") {
  CHECK(problems_of("name: a\ndata: \xC3(\n") == "f.yaml:2:7: invalid UTF-8; save the text as UTF-8");
  CHECK(problems_of(std::string("\xFF\xFEn\0a\0", 6)) == "f.yaml:1:1: the text is UTF-16; save it as UTF-8");
  CHECK(problems_of(std::string("\xFE\xFF\0n", 4)) == "f.yaml:1:1: the text is UTF-16; save it as UTF-8");
  CHECK(problems_of(std::string("n\0a\0", 4)) == "f.yaml:1:2: a NUL byte; save the text as UTF-8");
  CHECK(problems_of("name: a\x01\n") == "f.yaml:1:8: control character 0x01");
  CHECK(problems_of("name: a\rb: 1\n") == "f.yaml:1:8: control character 0x0D");
}

TEST_CASE("a text over 1 MiB is refused", "[config]") {
  CHECK(problems_of("name: a\n" + std::string(kMaxConfigBytes, '#')) ==
        "f.yaml:1:1: larger than 1 MiB; this is not a configuration");
}

TEST_CASE("a bomb of aliases is refused after 100000 values", "[config]") {
  std::string text = "x-0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int level = 1; level < 9; ++level) {
    const std::string below = "*a" + std::to_string(level - 1);
    text += "x-" + std::to_string(level) + ": &a" + std::to_string(level) + " [";
    for (int i = 0; i < 10; ++i) text += (i > 0 ? ", " : "") + below;
    text += "]\n";
  }
  const std::string found = problems_of(kSmall + text);
  CHECK_THAT(found, ContainsSubstring("more than 100000 values, aliases expanded"));
  CHECK(found.find('\n') == std::string::npos);
}

TEST_CASE("depth 64 is the limit, and a much deeper text is no crash", "[config]") {
  const auto nested = [](size_t depth) { return "x-a: " + std::string(depth, '[') + std::string(depth, ']') + "\n"; };
  CHECK(problems_of(kSmall + nested(62)) == "");
  CHECK_THAT(problems_of(kSmall + nested(70)), ContainsSubstring("nested deeper than 64 levels"));
  CHECK_THAT(problems_of(kSmall + nested(5000)), ContainsSubstring("nested deeper than 64 levels"));
  CHECK_THAT(problems_of(kSmall + "x-a: " + std::string(200000, '[')), ContainsSubstring("f.yaml:"));
}

TEST_CASE("the tree tells quoted from plain text and keeps places of keys and values", "[config]") {
  const ConfigNode root = tree("a: 5\nb: '5'\nc: |\n  text\nd: null\ne: ~\nf: 'null'\n");
  CHECK_FALSE(root.items[0].quoted);
  CHECK(root.items[1].quoted);
  CHECK(root.items[2].quoted);
  CHECK(root.items[2].text == "text\n");
  CHECK(root.items[3].kind == ConfigNode::Kind::null);
  CHECK(root.items[4].kind == ConfigNode::Kind::null);
  CHECK(root.items[5].kind == ConfigNode::Kind::scalar);
  CHECK(root.items[0].at.text() == "t.yaml:1:4");
  CHECK(root.items[3].at.text() == "t.yaml:5:1");  // nothing there: its key
}

TEST_CASE("comments, document marks and quoted keys are fine", "[config]") {
  CHECK(problems_of("---\n# comment\n\"name\": a  # here\ndata: {\"type\": synthetic}\n...\n") == "");
  CHECK(problems_of("{\"name\": \"a\", \"data\": {\"type\": \"synthetic\", \"examples\": 5}}\n") == "");
}

TEST_CASE("anchors and aliases give values", "[config]") {
  const auto value = load_text(
                         "name: a\ndata: {type: synthetic}\nseeds: &s [3, 4]\n"
                         "timings: [{batch_sizes: *s}, {batch_sizes: [7]}]\n")
                         .value;
  CHECK(value.timings[0].batch_sizes == std::vector<int64_t>{3, 4});
  CHECK(value.timings[1].batch_sizes == std::vector<int64_t>{7});
}

TEST_CASE("a tab is fine in a value, in a comment line and in an empty line", "[config]") {
  CHECK(problems_of("name: 'a\tb'\n\t# note\n\t\ndata: {type: synthetic}\n") == "");
}

}  // namespace headprune::zoo
