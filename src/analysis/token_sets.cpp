#include "analysis/token_sets.h"

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
            .after = {both->end()}};
  }
  SideVocabulary one{.size = tokenizer.size(),
                     .text =
                         [&tokenizer](int64_t id) {
                           const std::optional<std::string> bytes = tokenizer.bytes_of(id);
                           return bytes ? *bytes : bare(tokenizer.token(id));
                         },
                     .before = tokenizer.form(1).before,
                     .after = tokenizer.form(1).after};
  const std::vector<int64_t> between = tokenizer.form(2).between;
  one.after.insert(one.after.end(), between.begin(), between.end());
  return one;
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
