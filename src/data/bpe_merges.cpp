#include "data/bpe_merges.h"

#include <functional>
#include <queue>
#include <tuple>

#include "core/error.h"

namespace headprune {

namespace {

uint64_t pair_key(int64_t left, int64_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint64_t>(right);
}

}  // namespace

BpeMerges::BpeMerges(const Merges& merges, const TokenTable& table) {
  for (const auto& both : merges) {
    const std::string &left = both.first, &right = both.second;
    const auto need = [&](const std::string& token) {
      const int64_t id = table.id(token);
      if (id < 0)
        table.bad(
            fmt::format("merge {} (\"{}\" with \"{}\") needs \"{}\", which is not in the vocabulary; get the "
                        "tokenizer's files again",
                        merges_.size() + 1, left, right, token));
      return id;
    };
    const uint64_t key = pair_key(need(left), need(right));
    const Merge merged{.rank = static_cast<int64_t>(merges_.size()), .id = need(left + right)};
    if (!merges_.emplace(key, merged).second)
      table.bad(fmt::format("merge {} (\"{}\" with \"{}\") is listed twice", merges_.size() + 1, left, right));
  }
}

const BpeMerges::Merge* BpeMerges::find(int64_t left, int64_t right) const {
  const auto at = merges_.find(pair_key(left, right));
  return at == merges_.end() ? nullptr : &at->second;
}

std::vector<int64_t> BpeMerges::apply(const std::vector<int64_t>& tokens) const {
  struct Symbol {
    int64_t id;
    size_t previous, next;
    bool gone = false;
  };
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<Symbol> symbols;
  symbols.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i)
    symbols.push_back(
        {.id = tokens[i], .previous = i == 0 ? kNone : i - 1, .next = i + 1 == tokens.size() ? kNone : i + 1});

  // As in the library, pairs that a merge has made stale stay in the queue and count only if they would still give the
  // same token: ids are equal even where two merges give one token.
  using Candidate = std::tuple<int64_t, size_t, int64_t>;  // rank, left symbol, new id: the smallest first
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](size_t left) {
    if (left == kNone || symbols[left].next == kNone) return;
    if (const Merge* found = find(symbols[left].id, symbols[symbols[left].next].id))
      queue.emplace(found->rank, left, found->id);
  };
  for (size_t i = 0; i < symbols.size(); ++i) offer(i);

  while (!queue.empty()) {
    const auto [rank, left, id] = queue.top();
    queue.pop();
    Symbol& symbol = symbols[left];
    if (symbol.gone || symbol.next == kNone) continue;
    Symbol& taken = symbols[symbol.next];
    const Merge* now = find(symbol.id, taken.id);
    if (!now || now->id != id) continue;
    symbol.id = id;
    symbol.next = taken.next;
    taken.gone = true;
    if (symbol.next != kNone) symbols[symbol.next].previous = left;
    offer(symbol.previous);
    offer(left);
  }

  std::vector<int64_t> ids;
  for (const Symbol& symbol : symbols)
    if (!symbol.gone) ids.push_back(symbol.id);
  return ids;
}

}  // namespace headprune
