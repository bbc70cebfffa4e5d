// What the files beside a vocabulary say of special and added tokens, read as transformers 4.57 reads them
// (docs/tokenizers.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/added_tokens.h"
#include "data/json_place.h"
#include "data/model_tokenizer.h"
#include "data/token_table.h"
#include "data/tokenizer_class.h"
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
  const NamedClass& named() const { return named_; }

  /// The token of a role ("cls_token"); `usual` where the files do not name it, nothing where that is empty or null.
  std::optional<AddedToken> role(const char* key, const AddedToken& usual);

  /// Without tokenizer.json: the tokens to be found in text, those of the roles asked for among them. Sets `added` and
  /// `implied` of `parts`, whose table is there.
  void add_to(TokenizerParts& parts) const;
  /// With tokenizer.json, whose added tokens `parts` has: what the files beside it change in them and add to them.
  void merge_into(TokenizerParts& parts, const TokenizerClass& rules);
  /// Forms as the class and the files leave them: token types, the side that is cut. `side` is what tokenizer.json
  /// says.
  void finish_forms(TokenizerParts& parts, bool token_types, const std::string& side) const;
  /// Refuses keys of tokenizer_config.json that name other files, of `keys`.
  void refuse_other_files(const std::vector<const char*>& keys) const;

 private:
  /// Whether added_tokens_decoder is there: then special_tokens_map.json and added_tokens.json are not asked.
  bool says_all() const { return config_.object().contains("added_tokens_decoder"); }
  const JsonPlace* place_of(const char* key) const;
  std::vector<AddedToken> decoder_tokens() const;
  std::vector<AddedToken> more_special_tokens() const;
  void merge_decoder(TokenizerParts& parts) const;
  void mark_passed_over(TokenizerParts& parts) const;

  Json config_json_, map_json_, added_json_;
  JsonPlace config_, map_, added_;
  NamedClass named_;
  std::vector<AddedToken> roles_;
};

/// The table of vocab.json. Throws Error(run_failed).
TokenTable read_vocab_table(const TokenizerFiles& files);

/// added_tokens of tokenizer.json.
std::vector<AddedToken> listed_tokens(const JsonPlace& root);

}  // namespace headprune
