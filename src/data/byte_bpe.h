// Byte-level byte pair encoding as GPT-2, RoBERTa, SmolLM2, Qwen2 and Llama 3 have it.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/bpe_merges.h"
#include "data/model_tokenizer.h"
#include "data/word_split.h"

namespace headprune {

/// How GPT-2 spells a byte in its vocabulary: a printable character.
std::string gpt2_byte_name(unsigned char byte);

struct ByteBpeOptions {
  WordEnd word_end = gpt2_word_end;
  bool add_prefix_space = false;
  bool compose = false;            // texts are composed first (NFC)
  std::string unknown = {};        // token of bytes that the vocabulary lacks; empty: these are left out
  bool fuse_unknown = false;       // of several such bytes in a row there is one
  bool whole_words_first = false;  // a word that is in the vocabulary is its token, whatever merges would make of it
};

class ByteBpe final : public ModelTokenizer {
 public:
  /// Throws Error(run_failed): no byte with a token, an unknown token, a merge of or into what the vocabulary lacks, a
  /// merge twice, added tokens that do not fit.
  ByteBpe(TokenizerParts parts, const Merges& merges, const ByteBpeOptions& options);

  /// Where every byte has a token there is none.
  int64_t unknown() const override { return lacks_bytes_ ? unknown_ : -1; }
  std::optional<std::string> bytes_of(int64_t id) const override;
  /// A token that begins with a space has it in its span. Nothing for a text that is not spelled by its tokens: one
  /// that is composed first, or holds bytes or an added token that the tokens do not give back.
  std::optional<std::vector<TextSpan>> locate(std::string_view text) const override;

 private:
  std::string normalize(std::string_view text) const override;
  void encode_text(std::string_view text, bool first, std::vector<int64_t>& ids) const override;
  void append_word(std::string_view word, std::vector<int64_t>& ids) const;
  std::vector<int64_t> merge(std::string_view word) const;

  ByteBpeOptions options_;
  std::array<int64_t, 256> bytes_{};  // -1: the vocabulary lacks it
  bool lacks_bytes_ = false;
  int64_t unknown_ = -1;
  BpeMerges merges_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::vector<int64_t>> cache_;
};

}  // namespace headprune
