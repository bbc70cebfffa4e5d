#include "data/byte_bpe.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "core/error.h"
#include "data/unicode.h"

namespace headprune {

namespace {

constexpr size_t kCachedWords = 1 << 16;
constexpr size_t kCachedWordBytes = 64;

uint64_t pair_key(int64_t left, int64_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint64_t>(right);
}

std::string byte_names(std::string_view bytes) {
  std::string names;
  for (const char byte : bytes) names += gpt2_byte_name(static_cast<unsigned char>(byte));
  return names;
}

}  // namespace

std::string ByteBpe::normalize(std::string_view text) const {
  return options_.compose ? compose(text) : std::string(text);
}

std::string gpt2_byte_name(unsigned char byte) {
  const auto printable = [](int value) {
    return (value >= '!' && value <= '~') || (value >= 0xA1 && value <= 0xAC) || value >= 0xAE;
  };
  int32_t code_point = byte;
  if (!printable(byte)) {  // those that are not printable are counted from U+0100 on
    code_point = 0x100;
    for (int lower = 0; lower < byte; ++lower) code_point += printable(lower) ? 0 : 1;
  }
  std::string name;
  append_utf8(code_point, name);
  return name;
}

ByteBpe::ByteBpe(TokenizerParts parts, const Merges& merges, const ByteBpeOptions& options)
    : ModelTokenizer(std::move(parts)), options_(options) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name = gpt2_byte_name(static_cast<unsigned char>(byte));
    // Published vocabularies lack bytes that no UTF-8 text has, or hardly any; letters are no such bytes.
    int64_t& id = bytes_[static_cast<size_t>(byte)];
    id = byte >= ' ' && byte <= '~' ? table().need(name, fmt::format("the token for byte 0x{:02X}", byte))
                                    : table().id(name);
    lacks_bytes_ = lacks_bytes_ || id < 0;
  }
  if (!options_.unknown.empty()) unknown_ = table().need(options_.unknown, "the unknown token");
  for (const auto& both : merges) {
    const std::string &left = both.first, &right = both.second;
    const auto need = [&](const std::string& token) {
      const int64_t id = table().id(token);
      if (id < 0)
        table().bad(
            fmt::format("merge {} (\"{}\" with \"{}\") needs \"{}\", which is not in the vocabulary; get the "
                        "tokenizer's files again",
                        merges_.size() + 1, left, right, token));
      return id;
    };
    const uint64_t key = pair_key(need(left), need(right));
    const Merge merged{.rank = static_cast<int64_t>(merges_.size()), .id = need(left + right)};
    if (!merges_.emplace(key, merged).second)
      table().bad(fmt::format("merge {} (\"{}\" with \"{}\") is listed twice", merges_.size() + 1, left, right));
  }
  find_added_tokens();
}

std::optional<std::string> ByteBpe::bytes_of(int64_t id) const {
  static const std::unordered_map<std::string_view, char> bytes = [] {
    static std::array<std::string, 256> names;
    std::unordered_map<std::string_view, char> map;
    for (size_t byte = 0; byte < names.size(); ++byte) {
      names[byte] = gpt2_byte_name(static_cast<unsigned char>(byte));
      map.emplace(names[byte], static_cast<char>(byte));
    }
    return map;
  }();
  const std::string& name = token(id);
  std::string text;
  for (const std::string_view character : split_units(TokenUnit::character, name)) {
    const auto found = bytes.find(character);
    if (found == bytes.end()) return name;  // an added token stands for itself
    text += found->second;
  }
  return text;
}

std::optional<std::vector<TextSpan>> ByteBpe::locate(std::string_view text) const {
  std::string spelled(text);
  const size_t added = options_.add_prefix_space && !text.starts_with(' ') && !text.empty() ? 1 : 0;
  if (added > 0) spelled.insert(0, " ");
  std::vector<TextSpan> spans;
  size_t at = 0;
  for (const int64_t id : encode(text)) {
    const std::string bytes = *bytes_of(id);
    if (bytes.empty() || !std::string_view(spelled).substr(at).starts_with(bytes)) return std::nullopt;
    spans.push_back({std::max(at, added) - added, at + bytes.size() - added});
    at += bytes.size();
  }
  if (at != spelled.size()) return std::nullopt;
  return spans;
}

const ByteBpe::Merge* ByteBpe::find_merge(int64_t left, int64_t right) const {
  const auto at = merges_.find(pair_key(left, right));
  return at == merges_.end() ? nullptr : &at->second;
}

void ByteBpe::encode_text(std::string_view text, std::vector<int64_t>& ids) const {
  std::string spaced;
  if (options_.add_prefix_space && !text.starts_with(' ')) {
    spaced = " ";
    spaced += text;
    text = spaced;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = options_.word_end(text, at);
    append_word(text.substr(at, end - at), ids);
    at = end;
  }
}

void ByteBpe::append_word(std::string_view word, std::vector<int64_t>& ids) const {
  std::string key(word);
  if (word.size() <= kCachedWordBytes) {
    const std::lock_guard lock(mutex_);
    if (const auto at = cache_.find(key); at != cache_.end()) {
      ids.insert(ids.end(), at->second.begin(), at->second.end());
      return;
    }
  }
  std::vector<int64_t> merged;
  if (const int64_t whole = options_.whole_words_first ? table().id(byte_names(word)) : -1; whole >= 0)
    merged = {whole};
  else
    merged = merge(word);
  ids.insert(ids.end(), merged.begin(), merged.end());
  if (word.size() > kCachedWordBytes) return;
  const std::lock_guard lock(mutex_);
  if (cache_.size() < kCachedWords) cache_.emplace(std::move(key), std::move(merged));
}

std::vector<int64_t> ByteBpe::merge(std::string_view word) const {
  struct Symbol {
    int64_t id;
    size_t previous, next;
    bool gone = false;
  };
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  bool after_unknown = false;
  for (const char byte : word) {
    const int64_t known = bytes_[static_cast<unsigned char>(byte)];
    const bool left_out = known < 0 && (unknown_ < 0 || (after_unknown && options_.fuse_unknown));
    after_unknown = known < 0;
    if (left_out) continue;
    const size_t place = symbols.size();
    if (place > 0) symbols.back().next = place;
    symbols.push_back({.id = known < 0 ? unknown_ : known, .previous = place == 0 ? kNone : place - 1, .next = kNone});
  }

  // As in the library, pairs that a merge has made stale stay in the queue and count only if they would still give the
  // same token: ids are equal even where two merges give one token.
  using Candidate = std::tuple<int64_t, size_t, int64_t>;  // rank, left symbol, new id: the smallest first
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](size_t left) {
    if (left == kNone || symbols[left].next == kNone) return;
    if (const Merge* found = find_merge(symbols[left].id, symbols[symbols[left].next].id))
      queue.emplace(found->rank, left, found->id);
  };
  for (size_t i = 0; i < symbols.size(); ++i) offer(i);

  while (!queue.empty()) {
    const auto [rank, left, id] = queue.top();
    queue.pop();
    Symbol& symbol = symbols[left];
    if (symbol.gone || symbol.next == kNone) continue;
    Symbol& taken = symbols[symbol.next];
    const Merge* now = find_merge(symbol.id, taken.id);
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
