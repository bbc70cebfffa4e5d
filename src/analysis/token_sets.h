// Tokens of one kind, looked up by id.
#pragma once

#include <functional>
#include <string>

#include "analysis/analysis.h"
#include "data/translation_tokenizer.h"

namespace headprune {

/// What stands at the keys of a block: texts as the encoder or a decoder alone reads them, or as the decoder beside an
/// encoder does.
enum class TextSide { source, target };
inline TextSide key_side(const BlockView& view) {
  return view.block.id.kind == Kind::decoder && view.batch.decoder_tokens.defined() ? TextSide::target
                                                                                    : TextSide::source;
}

/// The ids of one side.
struct SideVocabulary {
  int64_t size = 0;
  std::function<std::string(int64_t)> text;  // what a token stands for, without marks of pieces
  std::vector<int64_t> before, after;        // special tokens around a text, those between two among `after`
  int64_t unknown = -1;                      // what stands for text that cannot be spelled; -1: every text can

  bool is_special(int64_t id) const;
};
/// Of the target where the tokenizer has no such side, an empty one.
SideVocabulary side_vocabulary(const Tokenizer& tokenizer, TextSide side);

/// [size] float64: how often each id stands in the train part.
torch::Tensor train_counts(const Dataset& dataset, const SideVocabulary& vocabulary, TextSide side);
/// How often the `rank`-th most frequent of `counts` stands there; infinite where there are no more than `rank`, or
/// `rank` is 0.
double count_at_rank(const torch::Tensor& counts, int64_t rank);
/// Whether a token's text is ASCII punctuation alone.
bool is_punctuation(const std::string& text);

/// [size] bool: the ids of which `is` is true.
torch::Tensor token_set(int64_t size, const std::function<bool(int64_t)>& is);
/// `set` at each of `ids`, of any shape.
torch::Tensor in_set(const torch::Tensor& set, const torch::Tensor& ids);

}  // namespace headprune
