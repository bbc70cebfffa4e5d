#include "data/vocabulary.h"

#include "core/error.h"
#include "support/catch_torch.h"

using namespace headprune;

TEST_CASE("a vocabulary keeps the most frequent units, ties by bytes, within its size", "[data]") {
  const auto all = Vocabulary::build(TokenUnit::word, {{"b", 2}, {"a", 2}, {"z", 9}, {"rare", 1}}, 7);
  CHECK(all.size() == 7);
  CHECK(all.token(4) == "z");
  CHECK(all.token(5) == "a");
  CHECK(all.token(6) == "b");
  CHECK(all.id("rare") == Vocabulary::kUnknown);
  CHECK(all.encode("  a\tz rare\nb ") == std::vector<int64_t>{5, 4, 1, 6});
}

TEST_CASE("text that spells a special token is an unknown word", "[data]") {
  const auto words = Vocabulary::build(TokenUnit::word, {{"x", 1}}, 10);
  CHECK(words.encode("[CLS] [PAD] x") == std::vector<int64_t>{1, 1, 4});
}

TEST_CASE("characters are code points and bytes are bytes", "[data]") {
  const auto characters = Vocabulary::build(TokenUnit::character, {{"ä", 3}, {"n", 1}}, 100);
  CHECK(characters.encode("nä?") == std::vector<int64_t>{5, 4, 1});
  const auto bytes = Vocabulary::build(TokenUnit::byte, {}, 5);
  CHECK(bytes.size() == 260);
  CHECK(bytes.encode("A\xC3\xA4") == std::vector<int64_t>{4 + 0x41, 4 + 0xC3, 4 + 0xA4});
  CHECK(bytes.token(4 + 0xC3) == "<0xC3>");
}

TEST_CASE("a vocabulary survives being written and read", "[data]") {
  for (const auto& original :
       {Vocabulary::build(TokenUnit::word, {{"ü", 2}, {"\"q\"", 1}}, 10), Vocabulary::build(TokenUnit::byte, {}, 0),
        Vocabulary::build(TokenUnit::character, {{" ", 1}}, 10), Vocabulary::of({"k0?", "k0=1"})}) {
    const Json json = parse_json(dump_json(original.to_json()), "vocabulary.json");
    const auto again = Vocabulary::from_json(json, "vocabulary.json");
    CHECK(again == original);
    CHECK(again.id(again.token(4)) == original.id(original.token(4)));
  }
}

TEST_CASE("a malformed vocabulary file is refused with its name", "[data]") {
  const std::pair<const char*, const char*> bad[] = {
      {R"([])", "expected"},
      {R"({"unit":"word"})", "expected"},
      {R"({"unit":"syllable","tokens":[]})", "unit must be"},
      {R"({"unit":7,"tokens":[]})", "unit must be"},
      {R"({"unit":"word","tokens":["[PAD]","[UNK]","[CLS]"]})", "the first tokens"},
      {R"({"unit":"word","tokens":["[PAD]","[UNK]","[SEP]","[CLS]"]})", "the first tokens"},
      {R"({"unit":"word","tokens":["[PAD]","[UNK]","[CLS]","[SEP]","a","a"]})", "listed twice"},
      {R"({"unit":"word","tokens":["[PAD]","[UNK]","[CLS]","[SEP]",7]})", "must be text"},
      {R"({"unit":"byte","tokens":["[PAD]","[UNK]","[CLS]","[SEP]","a"]})", "<0x00>"}};
  for (const auto& [text, part] : bad) {
    INFO(text);
    CHECK_THROWS_WITH(Vocabulary::from_json(parse_json(text, "x"), "m/vocabulary.json"),
                      ContainsSubstring("m/vocabulary.json") && ContainsSubstring(part));
  }
}
