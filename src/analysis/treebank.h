// Sentences with their syntax as a model reads them: words as rows of pieces.
#pragma once

#include <filesystem>
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
Treebank read_treebank(const std::filesystem::path& path, const AnalysisInput& input);

/// Attention between words (Clark et al. 2019, section 4.1), [B, H, W, W]: to a word the sum over its pieces, from a
/// word the mean over them; 0 for words without pieces. `places`: of the batch's sentences.
torch::Tensor word_attention(const torch::Tensor& weights, const std::vector<const TreebankSentence*>& sentences);

}  // namespace headprune
