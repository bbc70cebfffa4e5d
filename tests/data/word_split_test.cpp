// Splits as the `tokenizers` library makes them (tests/golden/make_word_splits.py).
#include "data/word_split.h"

#include "core/files.h"
#include "core/json.h"
#include "support/catch_torch.h"

using namespace headprune;

TEST_CASE("texts are split before merging as the library splits them", "[tokenizer]") {
  const fs::path file = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/tokenizers/splits.json";
  const Json golden = parse_json(read_file(file), "splits.json");
  const std::pair<const char*, WordEnd> splitters[] = {
      {"digits", digits_word_end}, {"qwen2", qwen2_word_end}, {"llama3", llama3_word_end}};
  for (const auto& [name, word_end] : splitters)
    for (size_t i = 0; i < golden["texts"].size(); ++i) {
      const auto text = golden["texts"][i].get<std::string>();
      std::vector<size_t> lengths;
      for (size_t at = 0; at < text.size();) {
        const size_t end = word_end(text, at);
        REQUIRE(end > at);
        lengths.push_back(end - at);
        at = end;
      }
      INFO(name << " " << golden["texts"][i].dump());
      CHECK(lengths == golden[name][i].get<std::vector<size_t>>());
    }
}

TEST_CASE("a long text is split in the time that its length takes", "[tokenizer]") {
  // A million words without a digit: a splitter that looks for the next one each time would not end.
  std::string text;
  for (int i = 0; i < 1000000; ++i) text += "ab ";
  for (const WordEnd word_end : {gpt2_word_end, digits_word_end, qwen2_word_end, llama3_word_end}) {
    size_t words = 0;
    for (size_t at = 0; at < text.size(); ++words) at = word_end(text, at);
    CHECK(words == 1000001);
  }
}
