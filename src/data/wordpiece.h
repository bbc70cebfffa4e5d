// WordPiece as BERT and DistilBERT have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/bert_text.h"
#include "data/model_tokenizer.h"

namespace headprune {

struct WordPieceOptions {
  BertRules rules;
  /// For added tokens: transformers changes a normalizer once they are known, and does not look at them again.
  BertRules token_rules;
  std::string unknown = "[UNK]";
  std::string continuation = "##";  // before every piece of a word but the first
  int64_t longest_word = 100;       // characters; a longer word is unknown
};

/// A word becomes the longest pieces of the vocabulary from its start on, or one unknown token.
class WordPiece final : public ModelTokenizer {
 public:
  /// Throws Error(run_failed): no unknown token, added tokens that do not fit.
  WordPiece(TokenizerParts parts, WordPieceOptions options);

  int64_t unknown() const override { return unknown_; }
  /// Nothing for a text in which an added token stands as it is spelled.
  std::optional<std::vector<TextSpan>> locate(std::string_view text) const override;

 private:
  std::string normalize(std::string_view text) const override { return bert_normalize(text, options_.rules); }
  std::string normalize_token(std::string_view content) const override {
    return bert_normalize(content, options_.token_rules);
  }
  void encode_text(std::string_view text, bool first, std::vector<int64_t>& ids) const override;
  bool append_pieces(std::string_view word, std::vector<int64_t>& ids) const;

  WordPieceOptions options_;
  int64_t unknown_ = 0;
  size_t longest_piece_ = 0;  // bytes
};

}  // namespace headprune
