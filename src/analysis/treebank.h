// Sentences with their syntax as a model reads them: words as rows of pieces.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "data/conllu.h"

namespace headprune {

/// One sentence that fits the model.
struct TreebankSentence {
  std::vector<SyntaxWord> words;
  std::vector<std::vector<int64_t>> pieces;  // of each word: positions in the sequence; none for a word without text
};

struct Treebank {
  std::vector<TreebankSentence> sentences;
  std::vector<Batch> batches;  // whose examples are indices of sentences
  std::vector<std::string> notes;
};

/// Words by character offsets of the whole sentence: a token belongs to each word that it overlaps. Sentences that are
/// too long for the model, or whose tokens cannot be placed in the text, are left out and counted in the notes. Throws
/// Error(run_failed) where none is left, and as read_conllu().
Treebank read_treebank(const std::filesystem::path& path, const Tokenizer& tokenizer, const TransformerModel& model,
                       torch::Device device);

/// Attention between words (Clark et al. 2019, section 4.1), [B, H, W, W]: to a word the sum over its pieces, from a
/// word the mean over them; 0 for words without pieces. `sentences`: those of the batch.
torch::Tensor word_attention(const torch::Tensor& weights, const std::vector<const TreebankSentence*>& sentences);

/// From which word to which: the one that asks, and the one that it should find.
struct Instance {
  int64_t sentence = 0;  // in its batch
  int64_t asks = 0, wanted = 0;
  int64_t kind = 0;  // of Relations
};

/// The relations of a treebank by direction: "nsubj to head" is kind 2 r, "nsubj to dependent" 2 r + 1.
class Relations {
 public:
  /// Those with `least` instances or more, whose words both have text.
  Relations(const Treebank& treebank, int64_t least);
  int64_t count() const { return 2 * std::ssize(relations_); }
  const std::string& relation(int64_t kind) const { return relations_[static_cast<size_t>(kind / 2)]; }
  static const char* direction(int64_t kind) { return kind % 2 == 0 ? "to head" : "to dependent"; }
  std::vector<Instance> instances(const std::vector<const TreebankSentence*>& sentences) const;

 private:
  std::vector<std::string> relations_;  // sorted
};

}  // namespace headprune
