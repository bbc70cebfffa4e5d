#include "data/piece_tokenizer.h"

#include <algorithm>

#include "core/error.h"

namespace headprune {

namespace {

constexpr std::string_view kSpace = "\u2581";

/// The byte that a piece stands for; -1 for another piece.
int byte_of(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return -1;
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const size_t high = kDigits.find(piece[3]), low = kDigits.find(piece[4]);
  return high == std::string_view::npos || low == std::string_view::npos ? -1 : static_cast<int>(high * 16 + low);
}

}  // namespace

std::string byte_piece(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

PieceEncoder merging_encoder(const Merges& merges, const TokenTable& table) {
  std::array<int64_t, 256> bytes{};
  for (size_t byte = 0; byte < bytes.size(); ++byte) {
    const std::string piece = byte_piece(static_cast<unsigned char>(byte));
    bytes[byte] = table.need(piece, "byte_fallback is true, but the piece");
  }
  return [bytes, table, rules = BpeMerges(merges, table)](std::string_view text, std::vector<int64_t>& ids) {
    std::vector<int64_t> tokens;
    tokens.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
      size_t end = at + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      if (const int64_t whole = table.id(text.substr(at, end - at)); whole >= 0)
        tokens.push_back(whole);
      else
        for (size_t i = at; i < end; ++i) tokens.push_back(bytes[static_cast<unsigned char>(text[i])]);
      at = end;
    }
    const std::vector<int64_t> merged = rules.apply(tokens);
    ids.insert(ids.end(), merged.begin(), merged.end());
  };
}

PieceEncoder sentence_piece_encoder(SentencePieces pieces) {
  return [pieces = std::move(pieces)](std::string_view text, std::vector<int64_t>& ids) {
    const std::vector<int64_t> found = pieces.encode(text);
    ids.insert(ids.end(), found.begin(), found.end());
  };
}

PieceTokenizer::PieceTokenizer(TokenizerParts parts, PieceEncoder encoder, PieceOptions options, int64_t unknown)
    : ModelTokenizer(std::move(parts)), encoder_(std::move(encoder)), options_(options), unknown_(unknown) {
  has_bytes_ = true;
  for (int byte = 0; byte < 256; ++byte)
    has_bytes_ = has_bytes_ && table().id(byte_piece(static_cast<unsigned char>(byte))) >= 0;
  find_added_tokens();
}

bool PieceTokenizer::gets_prefix(std::string_view text, bool first) const {
  if (options_.once && (text.starts_with(' ') || text.starts_with(kSpace))) return false;
  return options_.prefix == PieceOptions::Prefix::stretch || (options_.prefix == PieceOptions::Prefix::text && first);
}

std::string PieceTokenizer::spelled(std::string_view text, bool prefix) const {
  std::string found(prefix ? kSpace : std::string_view());
  for (const char byte : text) {
    if (byte == ' ')
      found += kSpace;
    else
      found += byte;
  }
  return found;
}

std::string PieceTokenizer::normalize(std::string_view text) const {
  return options_.as_normalizer ? spelled(text, gets_prefix(text, true)) : std::string(text);
}

void PieceTokenizer::encode_text(std::string_view text, bool first, std::vector<int64_t>& ids) const {
  if (options_.as_normalizer)
    encoder_(text, ids);
  else
    encoder_(spelled(text, gets_prefix(text, first)), ids);
}

std::optional<std::string> PieceTokenizer::bytes_of(int64_t id) const {
  const std::string& piece = token(id);
  if (const int byte = has_bytes_ ? byte_of(piece) : -1; byte >= 0) return std::string(1, static_cast<char>(byte));
  std::string text;
  for (size_t at = 0; at < piece.size();) {
    const bool space = std::string_view(piece).substr(at).starts_with(kSpace);
    text += space ? ' ' : piece[at];
    at += space ? kSpace.size() : 1;
  }
  return text;
}

std::optional<std::vector<TextSpan>> PieceTokenizer::locate(std::string_view text) const {
  const size_t added = !text.empty() && gets_prefix(text, true) ? 1 : 0;
  const std::string whole = std::string(added, ' ') + std::string(text);
  std::vector<TextSpan> spans;
  size_t at = 0;
  for (const int64_t id : encode(text)) {
    const std::string bytes = *bytes_of(id);
    if (bytes.empty() || id == unknown_ || !std::string_view(whole).substr(at).starts_with(bytes)) return std::nullopt;
    spans.push_back({std::max(at, added) - added, at + bytes.size() - added});
    at += bytes.size();
  }
  if (at != whole.size()) return std::nullopt;
  return spans;
}

}  // namespace headprune
