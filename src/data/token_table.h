// Tokens and their ids, as a tokenizer's files list them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headprune {

/// Ids 0 ... size() - 1, every one with a token.
class TokenTable {
 public:
  TokenTable() = default;
  /// In any order. Throws Error(run_failed) naming `where`, the file: a token or an id twice, an id without token.
  TokenTable(std::vector<std::pair<std::string, int64_t>> entries, const std::string& where);

  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  const std::string& token(int64_t id) const { return tokens_.at(static_cast<size_t>(id)); }
  /// -1 where it is not listed.
  int64_t id(std::string_view token) const;
  /// Throws Error(run_failed) saying that `what` needs the token, where it is not listed.
  int64_t need(std::string_view token, const std::string& what) const;
  /// Throws Error(run_failed) with the file and the sentence.
  [[noreturn]] void bad(const std::string& what) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::string where_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> ids_;
};

}  // namespace headprune
