// Attention to tokens that carry no content (Clark et al. 2019, section 3.2): the classifier and separator tokens of
// the model, punctuation, and the last token of a text, which stands next to padding where there is any. Each of them
// from all other tokens, and from the tokens of that kind themselves.
#include <algorithm>

#include "analysis/shares.h"
#include "analysis/token_sets.h"

namespace headprune {
namespace {

constexpr const char* kKinds[] = {"classifier", "separator", "punctuation", "last"};

class Special final : public Analysis {
 public:
  struct Options {
    double threshold = 0.6;

    template <class V>
    void fields(V& v) {
      v("threshold", threshold,
        "a head attends to such tokens from this mean weight on, given by all other tokens (Clark et al. draw the line "
        "at 0.6)",
        between(0, 1));
    }
  };
  explicit Special(Options options) : options_(options) {}
  std::vector<std::string> roles() const override { return {"special"}; }

  std::unique_ptr<Pass> start(const AnalysisInput& input) const override {
    std::vector<std::string> names;
    std::vector<RoleRule> rules;
    for (const std::string kind : kKinds) {
      names.push_back("to_" + kind);
      rules.push_back({.column = names.back(), .role = "special", .detail = kind, .threshold = options_.threshold});
      names.push_back(kind + "_to_" + kind);
    }
    const Tokenizer& tokenizer = *input.dataset.tokenizer;
    return std::make_unique<Shares>(
        std::move(names), input,
        [source = kinds_of(tokenizer, TextSide::source), target = kinds_of(tokenizer, TextSide::target)](
            const BlockView& view) { return look(view, key_side(view) == TextSide::source ? source : target); },
        [rules](AnalysisResult& result) { find_role(rules, result); });
  }

 private:
  /// [vocabulary] bool each; undefined where the tokenizer has no such token.
  struct Kinds {
    torch::Tensor classifier, separator, punctuation;
  };

  static Kinds kinds_of(const Tokenizer& tokenizer, TextSide side) {
    const SideVocabulary vocabulary = side_vocabulary(tokenizer, side);
    if (vocabulary.size == 0) return {};
    const auto among = [](const std::vector<int64_t>& ids) {
      return [&ids](int64_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
    };
    Kinds kinds;
    if (!vocabulary.before.empty()) kinds.classifier = token_set(vocabulary.size, among(vocabulary.before));
    if (!vocabulary.after.empty()) kinds.separator = token_set(vocabulary.size, among(vocabulary.after));
    const auto punctuation = [&](int64_t id) {
      return !vocabulary.is_special(id) && is_punctuation(vocabulary.text(id));
    };
    kinds.punctuation = token_set(vocabulary.size, punctuation);
    return kinds;
  }

  static std::vector<Share> look(const BlockView& view, const Kinds& kinds) {
    const torch::Tensor& ids = view.key_ids();      // [B, S]
    const torch::Tensor queries = view.choosing();  // [B, 1, T]
    std::vector<Share> shares;
    const auto add = [&](const torch::Tensor& of_kind) {  // [B, S]
      if (!of_kind.defined()) {
        shares.resize(shares.size() + 2);
        return;
      }
      const torch::Tensor to = of_kind.unsqueeze(1).unsqueeze(2);  // [B, 1, 1, S]
      const bool same = view.self_attention();
      const torch::Tensor there = of_kind.unsqueeze(1);  // [B, 1, S]
      // Between two texts every query is another token.
      shares.push_back(weight_share(view, to, same ? queries.logical_and(there.logical_not()) : queries));
      shares.push_back(same ? weight_share(view, to, queries.logical_and(there)) : Share());
    };
    for (const torch::Tensor& set : {kinds.classifier, kinds.separator, kinds.punctuation})
      add(set.defined() ? in_set(set, ids) : torch::Tensor());
    const torch::Tensor position = torch::arange(ids.size(1), ids.options());  // [S]
    add(position.eq(view.key_present().sum(1, true) - 1));
    return shares;
  }

  Options options_;
};

const Register<Analysis, Special> register_special{
    "special", "attention to classifier and separator tokens, punctuation and the last token"};

}  // namespace
}  // namespace headprune
