#include "data/token_table.h"

#include <algorithm>

#include "core/error.h"

namespace headprune {

TokenTable::TokenTable(std::vector<std::pair<std::string, int64_t>> entries, const std::string& where) : where_(where) {
  if (entries.empty()) fail(ExitCode::run_failed, "{}: the vocabulary is empty; get the file again", where);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (auto& [token, id] : entries) {
    if (id < size())
      fail(ExitCode::run_failed, "{}: tokens \"{}\" and \"{}\" both have id {}; each id belongs to one token", where,
           tokens_.back(), token, id);
    if (id > size())
      fail(ExitCode::run_failed,
           "{}: no token has id {}, though ids go up to {}; ids must run from 0 without holes, or the model's "
           "embedding has rows that nothing reaches",
           where, size(), entries.back().second);
    if (!ids_.emplace(token, id).second)
      fail(ExitCode::run_failed, "{}: the token \"{}\" is listed twice, with ids {} and {}", where, token,
           ids_.find(token)->second, id);
    tokens_.push_back(std::move(token));
  }
}

int64_t TokenTable::id(std::string_view token) const {
  const auto at = ids_.find(token);
  return at == ids_.end() ? -1 : at->second;
}

int64_t TokenTable::need(std::string_view token, const std::string& what) const {
  const int64_t found = id(token);
  if (found < 0) bad(fmt::format("{} \"{}\" is not in the vocabulary; get the tokenizer's files again", what, token));
  return found;
}

void TokenTable::bad(const std::string& what) const { fail(ExitCode::run_failed, "{}: {}", where_, what); }

}  // namespace headprune
