// Ids equal to those of the `tokenizers` library: tests/golden/make_tokenizer_goldens.py made what is compared here,
// and its --explain prints what the library makes of one text.
#include <cstdlib>

#include "core/hash.h"
#include "core/text.h"
#include "data/byte_bpe.h"
#include "data/sequence.h"
#include "data/unicode.h"
#include "support/catch_torch.h"
#include "tokenizer_fixture.h"

using namespace headprune;
using namespace headprune::test;

namespace {

const std::string kSmall[] = {"wordpiece", "byte_bpe", "roberta"};

std::string id_line(const std::vector<int64_t>& ids) { return fmt::format("{}\n", fmt::join(ids, " ")); }

std::string short_hash(const std::vector<int64_t>& ids) { return sha256(id_line(ids)).substr(0, 8); }

/// Both layouts of a small tokenizer.
std::vector<std::shared_ptr<const Tokenizer>> layouts(const std::string& name) {
  const TestFolder old;
  copy_tokenizer(name, old, "tokenizer.json");
  return {read_tokenizer(tokenizer_goldens() / name), read_tokenizer(old.path())};
}

/// The older layout has no place for the flags of an added token.
bool same_in_both(const std::string& text) {
  return text.find("new_token") == std::string::npos && text.find("New_Token") == std::string::npos;
}

/// Class of a code point in GPT-2's pattern, seen from outside: what it is joined with.
char pattern_class(const std::string& character) {
  for (const auto& [name, other] : {std::pair('L', "a"), std::pair('N', "1"), std::pair('O', "!")})
    if (gpt2_word_end(other + character, 0) == 1 + character.size()) return name;
  return 'S';
}

std::string utf8(int32_t code_point) {
  std::string text;
  append_utf8(code_point, text);
  return text;
}

}  // namespace

TEST_CASE("texts chosen by hand have the library's ids", "[data][tokenizer]") {
  const Json cases = golden_json("strings.json")["cases"];
  REQUIRE(cases.size() > 60);
  for (const std::string& name : kSmall) {
    const auto tokenizers = layouts(name);
    for (const Json& one : cases) {
      const auto text = one["text"].get<std::string>();
      const auto wanted = one[name].get<std::vector<int64_t>>();
      INFO(name << ": " << one["text"].dump(-1, ' ', true));
      CHECK(tokenizers[0]->encode(text) == wanted);
      if (same_in_both(text)) CHECK(tokenizers[1]->encode(text) == wanted);
    }
  }
}

TEST_CASE("tokens stand where the library says", "[data][tokenizer]") {
  const Json cases = golden_json("strings.json")["cases"], offsets = golden_json("offsets.json");
  for (const std::string& name : kSmall) {
    const std::shared_ptr<const Tokenizer> tokenizer = layouts(name)[0];
    int64_t placed = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
      const auto text = cases[i]["text"].get<std::string>();
      const auto wanted = offsets[name][i].get<std::vector<std::array<size_t, 2>>>();
      INFO(name << ": " << cases[i]["text"].dump(-1, ' ', true));
      const std::optional<std::vector<TextSpan>> found = tokenizer->locate(text);
      if (!found) continue;  // rather nothing than a wrong place
      ++placed;
      REQUIRE(found->size() == wanted.size());
      for (size_t t = 0; t < wanted.size(); ++t) {
        // The library leaves out the space before a word and gives whole characters to each of their bytes.
        TextSpan span = (*found)[t];
        const auto inside = [&](size_t at) { return at < text.size() && (text[at] & 0xC0) == 0x80; };
        while (span.begin > 0 && inside(span.begin)) --span.begin;
        while (inside(span.end)) ++span.end;
        CHECK(span.end <= text.size());
        std::string_view ours = std::string_view(text).substr(span.begin, span.end - span.begin);
        std::string_view theirs = std::string_view(text).substr(wanted[t][0], wanted[t][1] - wanted[t][0]);
        while (ours.starts_with(' ')) ours.remove_prefix(1);
        while (theirs.starts_with(' ')) theirs.remove_prefix(1);
        CHECK(ours == theirs);
        if (!ours.empty()) CHECK(ours.data() == theirs.data());
      }
    }
    CHECK(placed * 10 >= std::ssize(cases) * 7);  // most texts hold no added token
  }
}

TEST_CASE("random Unicode has the library's ids", "[data][tokenizer]") {
  const Json random = golden_json("strings.json")["random"];
  REQUIRE(random["texts"].size() == 3000);
  for (const std::string& name : kSmall) {
    const auto tokenizers = layouts(name);
    int64_t wrong = 0;
    for (size_t i = 0; i < random["texts"].size(); ++i) {
      const auto text = random["texts"][i].get<std::string>();
      for (const auto& tokenizer : tokenizers) {
        if (tokenizer == tokenizers[1] && !same_in_both(text)) continue;
        const std::vector<int64_t> ids = tokenizer->encode(text);
        if (short_hash(ids) == random[name][i].get<std::string>()) continue;
        if (++wrong > 3) continue;  // enough to start from
        UNSCOPED_INFO(name << ", text " << i << " " << random["texts"][i].dump(-1, ' ', true) << ": " << id_line(ids));
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("pairs are put together and truncated as the library does it", "[data][tokenizer]") {
  const Json pairs = golden_json("strings.json")["pairs"];
  REQUIRE(pairs.size() == 80);
  for (const std::string& name : kSmall) {
    const TestFolder alone;  // a class may drop token types, which the library's own ids have
    copy_tokenizer(name, alone, "tokenizer_config.json");
    const auto tokenizer = read_tokenizer(alone.path());
    for (const Json& pair : pairs) {
      INFO(name << ": " << pair.dump(-1, ' ', true));
      TextIds texts = {tokenizer->encode(pair["first"].get<std::string>())};
      if (!pair["second"].is_null()) texts.push_back(tokenizer->encode(pair["second"].get<std::string>()));
      const SequenceForm form = tokenizer->form(texts.size());
      cut_texts(texts, form, pair["max_length"].get<int64_t>());
      Example example = assemble(texts, form);
      CHECK(example.tokens == pair[name]["ids"].get<std::vector<int64_t>>());
      example.token_types.resize(example.tokens.size(), 0);  // empty: all 0
      CHECK(example.token_types == pair[name]["types"].get<std::vector<int64_t>>());
    }
  }
}

TEST_CASE("every code point of Unicode 12 is treated as the library treats it", "[data][tokenizer]") {
  const Json golden = golden_json("code_points.json");
  const auto wordpiece = read_tokenizer(tokenizer_goldens() / "wordpiece");
  REQUIRE(golden["ranges"].size() > 600);
  std::vector<std::string> wrong;
  for (size_t i = 0; i < golden["ranges"].size(); ++i) {
    const auto first = golden["ranges"][i][0].get<int32_t>(), last = golden["ranges"][i][1].get<int32_t>();
    std::string ids, classes;
    for (int32_t code = first; code <= last; ++code) {
      const std::string character = utf8(code);
      ids += id_line(wordpiece->encode("a" + character + "a"));
      classes += pattern_class(character);
    }
    if (sha256(ids).substr(0, 8) != golden["wordpiece"][i].get<std::string>())
      wrong.push_back(fmt::format("wordpiece U+{:04X}-{:04X}", first, last));
    if (sha256(classes).substr(0, 8) != golden["pattern"][i].get<std::string>())
      wrong.push_back(fmt::format("pattern U+{:04X}-{:04X}", first, last));
  }
  CHECK(wrong == std::vector<std::string>{});
}

TEST_CASE("every line of the real data files has the library's ids", "[data][tokenizer]") {
  const char* data = std::getenv("HEADPRUNE_TEST_DATA");
  if (!data) {
    WARN("not run: HEADPRUNE_TEST_DATA is not set to a folder with sst2, cola, rte and multi30k-en-de");
    return;
  }
  std::map<std::string, std::shared_ptr<const Tokenizer>> tokenizers;
  for (const std::string& name : kSmall) tokenizers[name] = read_tokenizer(tokenizer_goldens() / name);
  if (const char* minilm = std::getenv("HEADPRUNE_MINILM"))
    tokenizers["minilm"] = read_tokenizer(minilm);
  else
    WARN("MiniLM's tokenizer not run: HEADPRUNE_MINILM is not set to the folder of all-MiniLM-L6-v2");
  const Json files = golden_json("data.json");
  size_t lines = 0;
  for (const auto& [file, golden] : files.items()) {
    const std::string text = read_file(fs::path(data) / file);
    std::vector<std::string_view> found = split(text, '\n');
    if (found.back().empty()) found.pop_back();
    REQUIRE(found.size() == golden["lines"].get<size_t>());
    lines += found.size();
    for (const auto& [name, tokenizer] : tokenizers) {
      INFO(file << ", " << name);
      Sha256 hash;
      for (const std::string_view line : found) hash.update(id_line(tokenizer->encode(line)));
      CHECK(hash.hex() == golden[name].get<std::string>());
    }
  }
  CHECK(lines > 80000);
}
