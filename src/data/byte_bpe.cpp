#include "data/byte_bpe.h"

#include <algorithm>

#include "core/error.h"
#include "data/unicode.h"

namespace headprune {

namespace {

constexpr size_t kCachedWords = 1 << 16;
constexpr size_t kCachedWordBytes = 64;

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
  merges_ = BpeMerges(merges, table());
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

void ByteBpe::encode_text(std::string_view text, bool /*first*/, std::vector<int64_t>& ids) const {
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
  std::vector<int64_t> tokens;
  tokens.reserve(word.size());
  bool after_unknown = false;
  for (const char byte : word) {
    const int64_t known = bytes_[static_cast<unsigned char>(byte)];
    const bool left_out = known < 0 && (unknown_ < 0 || (after_unknown && options_.fuse_unknown));
    after_unknown = known < 0;
    if (!left_out) tokens.push_back(known < 0 ? unknown_ : known);
  }
  return merges_.apply(tokens);
}

}  // namespace headprune
