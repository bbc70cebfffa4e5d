// A closed list of tokens with ids, built from training text or read back from a model folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/json.h"
#include "data/tokenizer.h"

namespace headprune {

/// Ids 0 ... 3 are padding [PAD], unknown [UNK], classification [CLS] (first of every classified sequence) and
/// separator [SEP]; a text that contains these words does not get their ids. Byte vocabularies have all 256 bytes,
/// spelled <0x00> to <0xFF>; the others hold the most frequent units up to a size, ties by bytes.
class Vocabulary final : public Tokenizer {
 public:
  static constexpr int64_t kPadding = 0, kUnknown = 1, kClassification = 2, kSeparator = 3, kSpecials = 4;

  /// From counted units, at most `max_size` ids in all (specials included); of bytes both are ignored.
  static Vocabulary build(TokenUnit unit, const std::unordered_map<std::string, int64_t>& counts, int64_t max_size);
  /// Only specials and `tokens`, for generated data.
  static Vocabulary of(const std::vector<std::string>& tokens);

  std::optional<TokenUnit> unit() const override { return unit_; }
  int64_t size() const override { return static_cast<int64_t>(tokens_.size()); }
  /// kUnknown for what is not listed.
  int64_t id(std::string_view token) const;
  const std::string& token(int64_t id) const override;
  std::vector<int64_t> encode(std::string_view text) const override;
  std::optional<std::vector<TextSpan>> locate(std::string_view text) const override;
  /// Words with a space between them.
  std::string decode(const std::vector<int64_t>& ids) const override;
  int64_t unknown() const override { return unit_ == TokenUnit::byte ? -1 : kUnknown; }
  /// [CLS] first, [SEP] between two texts, nothing at the end.
  SequenceForm form(size_t texts) const override;
  void write(FolderWriter& folder) const override;

  /// {"unit":"word","tokens":[...]}, saved as vocabulary.json with a model.
  Json to_json() const;
  /// Throws Error(run_failed).
  static Vocabulary from_json(const Json& json, const std::string& where);
  bool operator==(const Vocabulary& other) const { return unit_ == other.unit_ && tokens_ == other.tokens_; }

 private:
  void add(std::string token);

  TokenUnit unit_ = TokenUnit::word;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int64_t> ids_;
};

}  // namespace headprune
