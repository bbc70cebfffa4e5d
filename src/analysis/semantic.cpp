// What can be measured of heads that are loosely called semantic: weight that a content word gives to an earlier
// occurrence of its lemma (on a treebank) or token, beyond what content words of the same text give to other content
// words at the same distance; and weight on content words, beyond that on other words at the same distance. Comparing
// within a text and a distance takes out that heads look near, and that words of long texts get less.
#include <algorithm>
#include <map>

#include "analysis/shares.h"
#include "analysis/token_sets.h"
#include "analysis/treebank.h"
#include "core/error.h"
#include "score/accumulate.h"

namespace headprune {
namespace {

constexpr int64_t kFrequent = 100;
constexpr const char* kContentTags[] = {"NOUN", "PROPN", "VERB", "ADJ", "ADV"};

/// Words of a batch, W of them: those of a treebank, or tokens.
struct Words {
  torch::Tensor present;  // [B, W] bool: words that have text and are no special tokens
  torch::Tensor same;     // [B, W] int64: equal where two content words are the same; -1: no content word
  torch::Tensor weights;  // [B, H, W, W]
  torch::Tensor uniform;  // [B, 1, W, W]: of a head that looks at all it sees alike
  torch::Tensor visible;  // [B, W, W] bool: the whole of a word is in sight of the whole of the other
};

/// Sums of pairs [B, W, W] by distance, [B, 2 W - 1].
torch::Tensor by_distance(const torch::Tensor& pairs, const torch::Tensor& distance) {
  return torch::zeros({pairs.size(0), 2 * pairs.size(1) - 1}, pairs.options().dtype(torch::kFloat64))
      .scatter_add(1, distance.expand_as(pairs).flatten(1), pairs.to(torch::kFloat64).flatten(1));
}

/// Of `pairs` the sum of their weights and their number; pairs are [B, W, W], float64 or bool.
Share sum_over(const Words& words, const torch::Tensor& pairs, const torch::Tensor& counts) {
  const auto sum = [&](const torch::Tensor& weights) {
    return (weights * pairs.unsqueeze(1)).sum(-1).to(torch::kFloat64).sum(-1);  // [B, H]
  };
  return {sum(words.weights), counts, sum(words.uniform).squeeze(1)};
}

/// The weight of `pairs`, and by how much it is above the mean of those of `others` at the same distance of the same
/// text. Pairs at a distance at which there are no others do not count. [B, W, W] bool.
std::pair<Share, Share> against(const Words& words, const torch::Tensor& pairs, const torch::Tensor& others) {
  const int64_t size = pairs.size(1);
  const torch::Tensor place = torch::arange(size, pairs.options().dtype(torch::kInt64));  // [W]
  const torch::Tensor distance = place.unsqueeze(1) - place + size - 1;                   // [W, W]
  const torch::Tensor ours = by_distance(pairs, distance), theirs = by_distance(others, distance);
  const auto at_pairs = [&](const torch::Tensor& of_distance) {
    return of_distance.gather(1, distance.expand_as(pairs).flatten(1)).view(pairs.sizes());  // [B, W, W]
  };
  const torch::Tensor counted = pairs.logical_and(at_pairs(theirs) > 0);  // [B, W, W]
  const torch::Tensor counts = counted.sum({1, 2}).to(torch::kFloat64);   // [B]
  const torch::Tensor factors = counted.to(torch::kFloat64) - others * at_pairs(ours / theirs.clamp_min(1));
  return {sum_over(words, counted, counts), sum_over(words, factors.to(words.weights.scalar_type()), counts)};
}

std::vector<Share> shares_of(const Words& words) {
  const torch::Tensor content = words.same >= 0;  // [B, W]
  const auto pairs = [&](const torch::Tensor& from, const torch::Tensor& to) {
    return words.visible.logical_and(from.unsqueeze(2)).logical_and(to.unsqueeze(1));  // [B, W, W]
  };
  const torch::Tensor earlier = pairs(content, content).tril(-1);
  const torch::Tensor equal = words.same.unsqueeze(2).eq(words.same.unsqueeze(1));  // [B, W, W]
  const auto [to_same, same_above] =
      against(words, earlier.logical_and(equal), earlier.logical_and(equal.logical_not()));
  const torch::Tensor another =
      torch::eye(words.present.size(1), words.present.options().dtype(torch::kBool)).logical_not();  // [W, W]
  const torch::Tensor to_content = pairs(words.present, content).logical_and(another);
  const torch::Tensor to_other = pairs(words.present, content.logical_not().logical_and(words.present));
  return {to_same, same_above, sum_over(words, to_content, to_content.any(-1).sum(1).to(torch::kFloat64)),
          against(words, to_content, to_other.logical_and(another)).second};
}

/// What a head gives that looks at all it sees alike, [B, 1, T, S] of the type of its weights.
torch::Tensor uniform_weights(const BlockView& view) {
  return view.visible.to(view.weights.scalar_type()) / view.visible.sum(-1, true).clamp_min(1);
}

bool is_content(const SyntaxWord& word) {
  return !word.lemma.empty() && word.lemma != "_" &&
         std::find(std::begin(kContentTags), std::end(kContentTags), word.part_of_speech) != std::end(kContentTags);
}

class Semantic final : public Analysis {
 public:
  struct Options {
    std::optional<std::filesystem::path> conllu;
    std::optional<int64_t> frequent;
    double threshold = 0.1;

    template <class V>
    void fields(V& v) {
      v("conllu", conllu,
        "treebank in CoNLL-U with lemmas: words are the same by lemma, and content words are its nouns, proper names, "
        "verbs, adjectives and adverbs; absent: tokens of the split, by id",
        existing_file);
      v("frequent", frequent,
        "without a treebank: content words are tokens that are not among this many most frequent ones (100), nor "
        "special, unknown or punctuation",
        at_least(0));
      v("threshold", threshold,
        "a head has the role from so much more weight on an earlier occurrence than on other content words at its "
        "distance; a convention of this program",
        between(0, 1));
    }
    CrossProblems problems() const {
      if (!conllu || !frequent) return {};
      return {{"frequent", "a treebank says which words are content words: drop one of conllu and frequent"}};
    }
  };
  explicit Semantic(Options options) : options_(std::move(options)) {}
  std::vector<std::string> roles() const override { return {"semantic"}; }

  std::vector<InputFile> inputs() const override {
    return !options_.conllu ? std::vector<InputFile>() : std::vector<InputFile>{{"analysis.conllu", *options_.conllu}};
  }

  void check(const TransformerModel& model, const Dataset& dataset) const override {
    if (!options_.conllu) return;
    for (const TreebankSentence& sentence :
         read_treebank(*options_.conllu, *dataset.tokenizer, model, torch::kCPU).sentences)
      if (std::any_of(sentence.words.begin(), sentence.words.end(), is_content)) return;
    fail(ExitCode::usage,
         "{}: no noun, proper name, verb, adjective or adverb (column 4: NOUN, PROPN, VERB, ADJ, ADV) has a lemma "
         "(column 3); name a treebank with both, or drop `conllu` to compare tokens",
         options_.conllu->string());
  }

  std::unique_ptr<Pass> start(const AnalysisInput& input) const override {
    return options_.conllu ? of_words(input) : of_tokens(input);
  }

 private:
  std::unique_ptr<Pass> of_tokens(const AnalysisInput& input) const;
  std::unique_ptr<Pass> of_words(const AnalysisInput& input) const;
  Shares::Conclude conclude(std::vector<std::string> notes, std::string detail) const;

  Options options_;
};

const std::vector<std::string> kColumns = {"to_earlier_same", "same_above_others", "to_content",
                                           "content_above_others"};

Shares::Conclude Semantic::conclude(std::vector<std::string> notes, std::string detail) const {
  return [notes = std::move(notes), detail = std::move(detail),
          threshold = options_.threshold](AnalysisResult& result) {
    for (HeadColumn& column : result.columns) column.difference = column.name.ends_with("_above_others");
    find_role({{.column = "same_above_others", .role = "semantic", .detail = detail, .threshold = threshold}}, result);
    result.notes.insert(result.notes.end(), notes.begin(), notes.end());
    result.notes.emplace_back(
        "more weight on earlier occurrences and on content words than on other words at the same distance of the same "
        "text: what can be measured of what is loosely called semantic; that a head knows what words mean is not "
        "measured");
    if (!result.columns.empty() &&
        std::none_of(result.columns.front().n.begin(), result.columns.front().n.end(), [](int64_t n) { return n > 0; }))
      result.notes.emplace_back("no text has a content word twice, with other content words at the same distance");
  };
}

std::unique_ptr<Analysis::Pass> Semantic::of_tokens(const AnalysisInput& input) const {
  struct Side {
    torch::Tensor content, special;  // [vocabulary] bool; undefined without such a side
  };
  const int64_t frequent = options_.frequent.value_or(kFrequent);
  const auto side_of = [&](TextSide side) -> Side {
    const SideVocabulary vocabulary = side_vocabulary(*input.dataset.tokenizer, side);
    if (vocabulary.size == 0) return {};
    const torch::Tensor special = token_set(vocabulary.size, [&](int64_t id) { return vocabulary.is_special(id); });
    const torch::Tensor eligible = token_set(vocabulary.size, [&](int64_t id) {
      return !vocabulary.is_special(id) && id != vocabulary.unknown && !is_punctuation(vocabulary.text(id));
    });
    const torch::Tensor counts = train_counts(input.dataset, vocabulary, side);
    const torch::Tensor among = counts.index({eligible});  // [eligible]
    // Without enough tokens to have a rare one, none is; where none is left out, all are.
    const double limit = frequent > 0 && among.size(0) <= frequent ? -1 : count_at_rank(among, frequent);
    return {eligible.logical_and(counts < limit), special};
  };
  const Side source = side_of(TextSide::source);
  const auto look = [source, target = side_of(TextSide::target)](const BlockView& view) {
    const Side& side = key_side(view) == TextSide::source ? source : target;
    if (!view.self_attention() || !side.content.defined()) return std::vector<Share>();
    const torch::Tensor& ids = view.key_ids();                                                              // [B, S]
    const torch::Tensor present = view.key_present().logical_and(in_set(side.special, ids).logical_not());  // [B, S]
    const torch::Tensor content = present.logical_and(in_set(side.content, ids));                           // [B, S]
    return shares_of({.present = present,
                      .same = torch::where(content, ids, torch::full_like(ids, -1)),
                      .weights = view.weights,
                      .uniform = uniform_weights(view),
                      .visible = view.visible.squeeze(1)});
  };
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("words are tokens, by id; content words are those that are not among the {} most frequent "
                  "ones of the train part, special, unknown or punctuation",
                  frequent));
  if (!source.content.any().item<bool>())
    notes.push_back(
        fmt::format("the vocabulary has no more than {} ordinary tokens, so none is a content word: lower "
                    "`frequent`",
                    frequent));
  return std::make_unique<Shares>(kColumns, input, look, conclude(std::move(notes), "same token"));
}

std::unique_ptr<Analysis::Pass> Semantic::of_words(const AnalysisInput& input) const {
  const auto treebank = std::make_shared<const Treebank>(read_treebank(
      *options_.conllu, *input.dataset.tokenizer, input.model, input.model.parameters().front().device()));
  const auto look = [treebank](const BlockView& view) {
    if (!view.self_attention()) return std::vector<Share>();
    std::vector<const TreebankSentence*> sentences;
    for (const int64_t example : view.batch.examples)
      sentences.push_back(&treebank->sentences[static_cast<size_t>(example)]);
    const torch::Tensor weights = word_attention(view.weights, sentences).cpu();  // [B, H, W, W]
    const int64_t size = weights.size(0), most = weights.size(2);
    torch::Tensor pieces = torch::zeros({size, most}, torch::kFloat64);  // [B, W]
    torch::Tensor same = torch::full({size, most}, -1, torch::kInt64);   // [B, W]
    for (int64_t s = 0; s < size; ++s) {
      std::map<std::string, int64_t> lemmas;
      const TreebankSentence& sentence = *sentences[static_cast<size_t>(s)];
      for (size_t w = 0; w < sentence.words.size(); ++w) {
        const auto at = static_cast<int64_t>(w);
        pieces[s][at] = static_cast<double>(sentence.pieces[w].size());
        if (sentence.pieces[w].empty() || !is_content(sentence.words[w])) continue;
        same[s][at] = lemmas.emplace(sentence.words[w].lemma, std::ssize(lemmas)).first->second;
      }
    }
    // Of a word's pieces, how many the other one's see, on average over those.
    const torch::Tensor seen =
        word_attention(view.visible.to(torch::kFloat64), sentences).squeeze(1).cpu();  // [B, W, W]
    const torch::Tensor present = pieces > 0;
    const torch::Tensor both = present.unsqueeze(2).logical_and(present.unsqueeze(1));  // [B, W, W]
    return shares_of({.present = present,
                      .same = same,
                      .weights = weights,
                      .uniform = word_attention(uniform_weights(view), sentences).cpu(),
                      .visible = both.logical_and(seen > pieces.unsqueeze(1) - 1e-6)});
  };
  return std::make_unique<Shares>(kColumns, input, look, conclude(treebank->notes, "same lemma"), treebank->batches);
}

const Register<Analysis, Semantic> register_semantic{
    "semantic",
    "weight on earlier occurrences of a lemma or token and on content words, beyond that on other words at the same "
    "distance: the measurable part of what is loosely called semantic"};

}  // namespace
}  // namespace headprune
