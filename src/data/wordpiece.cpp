#include "data/wordpiece.h"

#include <algorithm>

namespace headprune {

namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

}  // namespace

WordPiece::WordPiece(TokenizerParts parts, WordPieceOptions options)
    : ModelTokenizer(std::move(parts)), options_(std::move(options)) {
  unknown_ = table().need(options_.unknown, "the unknown token");
  for (int64_t id = 0; id < table().size(); ++id) longest_piece_ = std::max(longest_piece_, table().token(id).size());
  find_added_tokens();
}

void WordPiece::encode_text(std::string_view text, std::vector<int64_t>& ids) const {
  for (const std::string_view word : bert_words(text)) {
    const size_t before = ids.size();
    if (std::count_if(word.begin(), word.end(), begins_character) <= options_.longest_word && append_pieces(word, ids))
      continue;
    ids.resize(before);
    ids.push_back(unknown_);
  }
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
