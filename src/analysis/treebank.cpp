#include "analysis/treebank.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "data/sequence.h"

namespace headprune {
namespace {

std::vector<std::vector<int64_t>> pieces_of_words(const std::vector<SyntaxWord>& words,
                                                  const std::vector<TextSpan>& tokens, int64_t first) {
  std::vector<std::vector<int64_t>> pieces(words.size());
  for (size_t w = 0; w < words.size(); ++w)
    for (size_t t = 0; t < tokens.size(); ++t)
      if (tokens[t].begin < words[w].span.end && words[w].span.begin < tokens[t].end)
        pieces[w].push_back(first + static_cast<int64_t>(t));
  return pieces;
}

}  // namespace

Treebank read_treebank(const std::filesystem::path& path, const Tokenizer& tokenizer, const TransformerModel& model,
                       torch::Device device) {
  const SequenceForm form = tokenizer.form(1);
  Treebank treebank;
  Split split;
  int64_t too_long = 0, not_placed = 0, unknown = 0, tokens = 0;
  for (SyntaxSentence& sentence : read_conllu(path)) {
    const std::vector<int64_t> ids = tokenizer.encode(sentence.text);
    const std::optional<std::vector<TextSpan>> spans = tokenizer.locate(sentence.text);
    if (!spans) {
      ++not_placed;
      continue;
    }
    Example example = assemble({ids}, form);
    if (std::ssize(example.tokens) > model.longest_text()) {
      ++too_long;
      continue;
    }
    unknown += std::count(ids.begin(), ids.end(), tokenizer.unknown());
    tokens += std::ssize(ids);
    auto pieces = pieces_of_words(sentence.words, *spans, std::ssize(form.before));
    treebank.sentences.push_back({std::move(sentence.words), std::move(pieces)});
    split.examples.push_back(std::move(example));
  }
  if (split.examples.empty())
    fail(
        ExitCode::run_failed,
        "{}: no sentence can be used: {} are longer than the model's positions, and the tokenizer cannot say where its "
        "tokens stand in {}",
        path.string(), too_long, not_placed);
  std::string read =
      fmt::format("{} sentences of {}, {:.2g} % of the tokens unknown to the tokenizer", split.examples.size(),
                  path.filename().string(),
                  100.0 * static_cast<double>(unknown) / static_cast<double>(std::max<int64_t>(1, tokens)));
  if (too_long > 0) read += fmt::format("; {} left out, too long for the model", too_long);
  if (not_placed > 0)
    read += fmt::format("; {} left out, the tokenizer cannot say where its tokens stand in them", not_placed);
  treebank.notes.push_back(std::move(read));
  treebank.batches = make_batches(split, {.tokens = 2048}, device);
  return treebank;
}

torch::Tensor word_attention(const torch::Tensor& weights, const std::vector<const TreebankSentence*>& sentences) {
  const int64_t count = std::ssize(sentences), positions = weights.size(3);
  int64_t most = 0;
  for (const TreebankSentence* sentence : sentences) most = std::max<int64_t>(most, std::ssize(sentence->words));
  torch::Tensor sums = torch::zeros({count, 1, most, positions}, torch::kFloat64);
  torch::Tensor means = torch::zeros_like(sums);
  auto sum = sums.accessor<double, 4>();
  auto mean = means.accessor<double, 4>();
  for (int64_t s = 0; s < count; ++s) {
    const auto& pieces = sentences[static_cast<size_t>(s)]->pieces;
    for (int64_t w = 0; w < std::ssize(pieces); ++w)
      for (const int64_t piece : pieces[static_cast<size_t>(w)]) {
        sum[s][0][w][piece] = 1;
        mean[s][0][w][piece] = 1.0 / static_cast<double>(pieces[static_cast<size_t>(w)].size());
      }
  }
  sums = sums.to(weights.options());
  const torch::Tensor to_words = weights.matmul(sums.transpose(2, 3));  // [B, H, T, W]
  return means.to(weights.options()).matmul(to_words);                  // [B, H, W, W]
}

namespace {

bool usable(const TreebankSentence& sentence, size_t word) {
  const int64_t head = sentence.words[word].head;
  return head >= 0 && !sentence.pieces[word].empty() && !sentence.pieces[static_cast<size_t>(head)].empty();
}

}  // namespace

Relations::Relations(const Treebank& treebank, int64_t least) {
  std::map<std::string, int64_t> counts;
  for (const TreebankSentence& sentence : treebank.sentences)
    for (size_t w = 0; w < sentence.words.size(); ++w)
      if (usable(sentence, w)) ++counts[sentence.words[w].relation];
  for (const auto& [relation, count] : counts)
    if (count >= least) relations_.push_back(relation);
}

std::vector<Instance> Relations::instances(const std::vector<const TreebankSentence*>& sentences) const {
  std::vector<Instance> found;
  for (size_t s = 0; s < sentences.size(); ++s)
    for (size_t w = 0; w < sentences[s]->words.size(); ++w) {
      const SyntaxWord& word = sentences[s]->words[w];
      const auto relation = std::lower_bound(relations_.begin(), relations_.end(), word.relation);
      if (!usable(*sentences[s], w) || relation == relations_.end() || *relation != word.relation) continue;
      const int64_t kind = 2 * (relation - relations_.begin()), dependent = static_cast<int64_t>(w);
      found.push_back({static_cast<int64_t>(s), dependent, word.head, kind});
      found.push_back({static_cast<int64_t>(s), word.head, dependent, kind + 1});
    }
  return found;
}

}  // namespace headprune
