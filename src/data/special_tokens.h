// What the files beside a vocabulary say of special and added tokens, read as transformers 4.57 reads them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/added_tokens.h"
#include "data/json_place.h"
#include "data/token_table.h"
#include "data/tokenizer_files.h"

namespace headprune {

/// tokenizer_config.json, special_tokens_map.json and added_tokens.json. Readers throw Error(run_failed) with file and
/// place.
class SpecialTokens {
 public:
  explicit SpecialTokens(const TokenizerFiles& files);
  SpecialTokens(const SpecialTokens&) = delete;
  SpecialTokens& operator=(const SpecialTokens&) = delete;

  const JsonPlace& config() const { return config_; }
  /// tokenizer_class without "Fast", or nothing.
  std::string tokenizer_class() const;

  /// The token of a role ("cls_token"); `usual` where the files do not name it, nothing where that is empty or null.
  std::optional<AddedToken> role(const char* key, const AddedToken& usual);

  /// The tokens to be found in text: added_tokens_decoder of tokenizer_config.json, which says all, or else those of
  /// the roles that the vocabulary has, more special ones, and those of added_tokens.json.
  std::vector<AddedToken> added(const TokenTable& table) const;

 private:
  Json config_json_, map_json_, added_json_;
  JsonPlace config_, map_, added_;
  std::vector<AddedToken> roles_;
};

/// The table of vocab.json. Throws Error(run_failed).
TokenTable read_vocab_table(const TokenizerFiles& files);

}  // namespace headprune
