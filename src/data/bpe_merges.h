// The merges of byte pair encoding, of bytes or of characters.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/token_table.h"

namespace headprune {

/// Two neighbouring tokens that become one; the earlier in the list, the sooner.
using Merges = std::vector<std::pair<std::string, std::string>>;

class BpeMerges {
 public:
  BpeMerges() = default;
  /// Throws Error(run_failed): a merge of or into what the table lacks, a merge twice.
  BpeMerges(const Merges& merges, const TokenTable& table);

  /// What the merges make of a word's first tokens.
  std::vector<int64_t> apply(const std::vector<int64_t>& tokens) const;

 private:
  struct Merge {
    int64_t rank, id;
  };
  const Merge* find(int64_t left, int64_t right) const;

  std::unordered_map<uint64_t, Merge> merges_;  // left id << 32 | right id
};

}  // namespace headprune
