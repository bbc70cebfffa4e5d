#include "data/wordpiece.h"

#include <algorithm>

#include "data/unicode.h"

namespace headprune {

namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Normalized text, and for each of its bytes the byte of the text at which the character began that it comes from.
struct Traced {
  std::string text;
  std::vector<TextSpan> origin;
};

/// Character by character, which is what bert_normalize() makes of most texts as a whole.
Traced trace(std::string_view text, const BertRules& rules) {
  Traced traced;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    take_code_point(text, at);
    traced.text += bert_normalize(text.substr(begin, at - begin), rules);
    traced.origin.resize(traced.text.size(), {begin, at});
  }
  return traced;
}

}  // namespace

WordPiece::WordPiece(TokenizerParts parts, WordPieceOptions options)
    : ModelTokenizer(std::move(parts)), options_(std::move(options)) {
  unknown_ = table().need(options_.unknown, "the unknown token");
  for (int64_t id = 0; id < table().size(); ++id) longest_piece_ = std::max(longest_piece_, table().token(id).size());
  find_added_tokens();
}

void WordPiece::encode_text(std::string_view text, bool /*first*/, std::vector<int64_t>& ids) const {
  for (const std::string_view word : bert_words(text)) {
    const size_t before = ids.size();
    if (std::count_if(word.begin(), word.end(), begins_character) <= options_.longest_word && append_pieces(word, ids))
      continue;
    ids.resize(before);
    ids.push_back(unknown_);
  }
}

std::optional<std::vector<TextSpan>> WordPiece::locate(std::string_view text) const {
  const Traced traced = trace(text, options_.rules);
  if (traced.text != bert_normalize(text, options_.rules)) return std::nullopt;
  const std::vector<int64_t> ids = encode(text);
  std::vector<TextSpan> spans;
  for (const std::string_view word : bert_words(traced.text)) {
    const auto first = static_cast<size_t>(word.data() - traced.text.data());
    for (size_t at = 0; at < word.size();) {
      if (spans.size() == ids.size()) return std::nullopt;
      const int64_t id = ids[spans.size()];
      size_t size = word.size() - at;  // an unknown word is one token
      if (id != unknown_) {
        std::string_view piece = token(id);
        if (at > 0) piece.remove_prefix(std::min(piece.size(), options_.continuation.size()));
        if (piece.empty() || !word.substr(at).starts_with(piece)) return std::nullopt;
        size = piece.size();
      } else if (at > 0) {
        return std::nullopt;
      }
      spans.push_back({traced.origin[first + at].begin, traced.origin[first + at + size - 1].end});
      at += size;
    }
  }
  if (spans.size() != ids.size()) return std::nullopt;
  return spans;
}

bool WordPiece::append_pieces(std::string_view word, std::vector<int64_t>& ids) const {
  std::string key;
  for (size_t begin = 0; begin < word.size();) {
    key.assign(begin == 0 ? "" : options_.continuation);
    const size_t prefix = key.size();
    // The lookup that ends in the middle of a character finds nothing, so a cut there does no harm.
    key.append(word.substr(begin, longest_piece_));
    int64_t id = -1;
    while (key.size() > prefix && (id = table().id(key)) < 0) {
      while (key.size() > prefix && !begins_character(key.back())) key.pop_back();
      if (key.size() > prefix) key.pop_back();
    }
    if (id < 0) return false;
    ids.push_back(id);
    begin += key.size() - prefix;
  }
  return true;
}

}  // namespace headprune
