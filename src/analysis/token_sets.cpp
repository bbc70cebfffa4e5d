#include "analysis/token_sets.h"

#include <algorithm>
#include <cmath>

#include "data/unicode.h"

namespace headprune {
namespace {

/// Without what marks a piece: "##ing" and "▁the".
std::string bare(const std::string& token) {
  static const std::string kSpace = "\xE2\x96\x81";
  if (token.size() > 2 && token.starts_with("##")) return token.substr(2);
  return token.starts_with(kSpace) && token != kSpace ? token.substr(kSpace.size()) : token;
}

}  // namespace

SideVocabulary side_vocabulary(const Tokenizer& tokenizer, TextSide side) {
  if (side == TextSide::target) {
    const auto* both = dynamic_cast<const TranslationTokenizer*>(&tokenizer);
    if (both == nullptr) return {};
    return {.size = both->target_size(),
            .text = [both](int64_t id) { return bare(both->target_token(id)); },
            .before = {both->start()},
            .after = {both->end()},
            .unknown = both->target_unknown()};
  }
  SideVocabulary one{.size = tokenizer.size(),
                     .text =
                         [&tokenizer](int64_t id) {
                           const std::optional<std::string> bytes = tokenizer.bytes_of(id);
                           return bytes ? *bytes : bare(tokenizer.token(id));
                         },
                     .before = tokenizer.form(1).before,
                     .after = tokenizer.form(1).after,
                     .unknown = tokenizer.unknown()};
  const std::vector<int64_t> between = tokenizer.form(2).between;
  one.after.insert(one.after.end(), between.begin(), between.end());
  return one;
}

bool SideVocabulary::is_special(int64_t id) const {
  const auto among = [id](const std::vector<int64_t>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  return among(before) || among(after);
}

torch::Tensor train_counts(const Dataset& dataset, const SideVocabulary& vocabulary, TextSide side) {
  torch::Tensor counts = torch::zeros({vocabulary.size}, torch::kFloat64);
  double* const data = counts.mutable_data_ptr<double>();
  for (const Example& example : dataset.train->examples)
    for (const int64_t id : side == TextSide::source ? example.tokens : example.decoder_tokens)
      if (id < vocabulary.size) ++data[id];
  return counts;
}

double count_at_rank(const torch::Tensor& counts, int64_t rank) {
  if (rank == 0 || counts.size(0) <= rank) return INFINITY;
  return std::get<0>(counts.sort(0, /*descending=*/true))[rank - 1].item<double>();
}

bool is_punctuation(const std::string& text) {
  size_t at = text.starts_with(' ') ? 1 : 0;  // of byte-level pieces
  if (at == text.size()) return false;
  while (at < text.size()) {
    // Bytes that are no whole character are no punctuation; ASCII needs no decoding.
    if (static_cast<unsigned char>(text[at]) >= 0x80) return false;
    if (!is_bert_punctuation(take_code_point(text, at))) return false;
  }
  return true;
}

torch::Tensor token_set(int64_t size, const std::function<bool(int64_t)>& is) {
  torch::Tensor set = torch::zeros({size}, torch::kBool);
  bool* const data = set.mutable_data_ptr<bool>();
  for (int64_t id = 0; id < size; ++id) data[id] = is(id);
  return set;
}

torch::Tensor in_set(const torch::Tensor& set, const torch::Tensor& ids) {
  const torch::Tensor inside = ids.clamp(0, set.size(0) - 1);
  return set.to(ids.device()).index({inside}).logical_and(ids.eq(inside));
}

}  // namespace headprune
