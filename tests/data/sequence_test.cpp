#include "data/sequence.h"

#include "support/catch_torch.h"

using namespace headprune;

namespace {

/// As BERT has it: [CLS] 2, [SEP] 3.
const SequenceForm kBert{.before = {2}, .between = {3}, .after = {3}, .second_type = true};

/// Lengths of two texts after cutting them to `room` tokens.
std::vector<size_t> cut(size_t first, size_t second, int64_t room) {
  TextIds texts = {std::vector<int64_t>(first, 7), std::vector<int64_t>(second, 8)};
  cut_texts(texts, kBert, room + kBert.specials(2));
  return {texts[0].size(), texts[1].size()};
}

}  // namespace

TEST_CASE("one text and two texts get their special tokens, types and positions", "[data]") {
  const Example one = assemble({{5, 6}}, kBert);
  CHECK(one.tokens == std::vector<int64_t>{2, 5, 6, 3});
  CHECK(one.special == std::vector<int64_t>{0, 3});
  CHECK(one.token_types.empty());
  const Example two = assemble({{5, 6}, {7}}, kBert);
  CHECK(two.tokens == std::vector<int64_t>{2, 5, 6, 3, 7, 3});
  CHECK(two.special == std::vector<int64_t>{0, 3, 5});
  CHECK(two.token_types == std::vector<int64_t>{0, 0, 0, 0, 1, 1});
  CHECK(sequence_length({{5, 6}, {7}}, kBert) == 6);
  CHECK(assemble({{5}, {7}}, {.before = {0}, .between = {2, 2}, .after = {2}}).tokens ==
        std::vector<int64_t>{0, 5, 2, 2, 7, 2});
}

// Lengths from tokenizers 0.22, truncation strategy "longest_first".
TEST_CASE("two texts are cut as the tokenizers library cuts them", "[data]") {
  CHECK(cut(3, 4, 7) == std::vector<size_t>{3, 4});
  CHECK(cut(5, 2, 6) == std::vector<size_t>{4, 2});
  CHECK(cut(2, 9, 6) == std::vector<size_t>{2, 4});
  CHECK(cut(6, 6, 7) == std::vector<size_t>{3, 4});
  CHECK(cut(9, 6, 7) == std::vector<size_t>{4, 3});
  CHECK(cut(6, 9, 7) == std::vector<size_t>{3, 4});
  CHECK(cut(6, 9, 8) == std::vector<size_t>{4, 4});
  CHECK(cut(1, 1, 1) == std::vector<size_t>{0, 1});
  CHECK(cut(4, 4, 0) == std::vector<size_t>{0, 0});
}
