#include "model/id_check.h"

#include <algorithm>

#include "core/error.h"
#include "data/translation_tokenizer.h"

namespace headprune {
namespace {

using Ids = std::vector<int64_t>;

bool has_types(const Example& example) {
  return std::any_of(example.token_types.begin(), example.token_types.end(), [](int64_t type) { return type != 0; });
}

/// One example of a split, as sentences name it.
struct ExamplePlace {
  const std::string& where;
  const Split& split;
  size_t index;

  std::string text() const { return fmt::format("{}: example {} of the {} part", where, index + 1, split.name); }
};

/// `spelled(id)` is the token.
template <class Spelled>
void check_tokens(const ExamplePlace& place, const Ids& ids, int64_t rows, const Spelled& spelled) {
  for (const int64_t id : ids)
    if (id != kNoTarget && (id < 0 || id >= rows))
      fail(ExitCode::run_failed,
           "{} holds the token \"{}\" of id {}, and the model's table of tokens has {} rows (ids 0 to {}); use the "
           "tokenizer that the model was trained with, or take the token out of the text",
           place.text(), spelled(id), id, rows, rows - 1);
}

void check_types(const ExamplePlace& place, const Ids& types, const TransformerConfig& sizes) {
  if (sizes.token_types == 0 || sizes.ignores_token_types || types.empty()) return;
  const int64_t largest = *std::max_element(types.begin(), types.end());
  if (largest >= sizes.token_types)
    fail(ExitCode::run_failed,
         "{} has tokens of type {}, and the model's table of token types has {} {} (type_vocab_size in config.json); "
         "give one text column (data.text), or, where the model was trained without types, leave token_type_ids out of "
         "model_input_names in tokenizer_config.json",
         place.text(), largest, sizes.token_types, sizes.token_types == 1 ? "row" : "rows");
}

void check_positions(const ExamplePlace& place, int64_t length, const TransformerConfig& sizes) {
  if (sizes.positions == Positions::learned && length > sizes.max_length)
    fail(ExitCode::run_failed,
         "{} has {} tokens, and the model {} positions; set data.max_length (data.context_length) to at most {}",
         place.text(), length, sizes.max_length, sizes.max_length);
}

}  // namespace

void check_ids(const Dataset& dataset, const TransformerConfig& sizes, const std::string& where) {
  const auto* both = dynamic_cast<const TranslationTokenizer*>(dataset.tokenizer.get());
  const auto spelled = [&](int64_t id) -> std::string { return dataset.tokenizer->token(id); };
  const auto target_spelled = [&](int64_t id) { return both ? both->target_token(id) : spelled(id); };
  const int64_t written = sizes.writes_from_source() ? sizes.written_tokens() : sizes.vocabulary_size;
  for (const UsedSplit& used : dataset.used_splits())
    for (size_t i = 0; i < used.split->examples.size(); ++i) {
      const Example& example = used.split->examples[i];
      const ExamplePlace place{where, *used.split, i};
      check_tokens(place, example.tokens, sizes.vocabulary_size, spelled);
      check_tokens(place, example.decoder_tokens, written, target_spelled);
      check_tokens(place, example.targets, written, target_spelled);
      for (const Choice& choice : example.choices) {
        check_tokens(place, choice.tokens, sizes.vocabulary_size, spelled);
        check_tokens(place, choice.targets, sizes.vocabulary_size, spelled);
        check_positions(place, std::ssize(choice.tokens), sizes);
      }
      check_types(place, example.token_types, sizes);
      check_positions(place, std::max(std::ssize(example.tokens), std::ssize(example.decoder_tokens)), sizes);
    }
}

bool drops_token_types(const Dataset& dataset, const TransformerConfig& sizes) {
  if (!sizes.ignores_token_types) return false;
  const std::vector<UsedSplit> splits = dataset.used_splits();
  return std::any_of(splits.begin(), splits.end(), [](const UsedSplit& used) {
    return std::any_of(used.split->examples.begin(), used.split->examples.end(), has_types);
  });
}

}  // namespace headprune
