// What the tokenizers that a model brings have in common: a table of tokens, added tokens, forms and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/added_tokens.h"
#include "data/token_table.h"
#include "data/tokenizer.h"
#include "data/tokenizer_files.h"

namespace headprune {

/// Read from a folder, whatever the kind of tokenizer.
struct TokenizerParts {
  TokenizerFiles files;
  std::string where;              // the file that errors name
  TokenTable table;               // of the model itself
  std::vector<AddedToken> added;  // ids inside the table are those of its tokens; others follow it
  /// Special tokens that a class has though no file gives them an id: they follow all others, and size() leaves them
  /// out, since models have no row for them.
  std::vector<AddedToken> implied;
  SequenceForm single, pair;
};

/// Ids are those of the `tokenizers` library's encode(text, add_special_tokens=False).
class ModelTokenizer : public Tokenizer {
 public:
  int64_t size() const override { return size_; }
  const std::string& token(int64_t id) const override;
  std::vector<int64_t> encode(std::string_view text) const override;
  SequenceForm form(size_t texts) const override { return texts > 1 ? pair_ : single_; }
  void write(FolderWriter& folder) const override { files_.write(folder); }

 protected:
  explicit ModelTokenizer(TokenizerParts parts);

  const TokenTable& table() const { return table_; }
  /// To be called by the constructors. Throws Error(run_failed): an added token that contradicts the table or the
  /// others, one that normalization leaves nothing of.
  void find_added_tokens();

 private:
  virtual std::string normalize(std::string_view text) const = 0;
  /// What an added token that is looked for in normalized text is looked for as.
  virtual std::string normalize_token(std::string_view content) const { return normalize(content); }
  /// Appends the ids of normalized text without added tokens, never empty. `first`: no token stands before it.
  virtual void encode_text(std::string_view text, bool first, std::vector<int64_t>& ids) const = 0;

  TokenizerFiles files_;
  std::string where_;
  TokenTable table_;
  std::vector<AddedToken> added_, implied_;
  SequenceForm single_, pair_;
  std::vector<std::string> beyond_;  // tokens whose ids follow the table's
  int64_t size_ = 0;                 // without the implied ones
  AddedTokens verbatim_, normalized_;
};

}  // namespace headprune
