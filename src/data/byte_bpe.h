// Byte-level byte pair encoding as GPT-2 and RoBERTa have it.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/model_tokenizer.h"

namespace headprune {

/// Two neighbouring tokens that become one; the earlier in the list, the sooner.
using Merges = std::vector<std::pair<std::string, std::string>>;

/// End of the word that begins at byte `at`, by GPT-2's pattern
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t gpt2_word_end(std::string_view text, size_t at);

/// How GPT-2 spells a byte in its vocabulary: a printable character.
std::string gpt2_byte_name(unsigned char byte);

class ByteBpe final : public ModelTokenizer {
 public:
  /// Throws Error(run_failed): a byte without token, a merge of or into what the vocabulary lacks, a merge twice, added
  /// tokens that do not fit.
  ByteBpe(TokenizerParts parts, const Merges& merges, bool add_prefix_space);

  /// Every text is bytes.
  int64_t unknown() const override { return -1; }
  std::optional<std::string> bytes_of(int64_t id) const override;

 private:
  struct Merge {
    int64_t rank, id;
  };
  std::string normalize(std::string_view text) const override { return std::string(text); }
  void encode_text(std::string_view text, std::vector<int64_t>& ids) const override;
  void append_word(std::string_view word, std::vector<int64_t>& ids) const;
  std::vector<int64_t> merge(std::string_view word) const;
  const Merge* find_merge(int64_t left, int64_t right) const;

  bool add_prefix_space_;
  std::array<int64_t, 256> bytes_{};
  std::unordered_map<uint64_t, Merge> merges_;  // left id << 32 | right id
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::vector<int64_t>> cache_;
};

}  // namespace headprune
