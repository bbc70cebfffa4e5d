// Tokenizers of SentencePiece's kind, as Llama 1 and 2, Mistral and TinyLlama have them: a space is "▁", part of the
// piece behind it, and a character without a piece is its bytes.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/bpe_merges.h"
#include "data/model_tokenizer.h"
#include "data/sentence_pieces.h"

namespace headprune {

/// How a byte is spelled in the vocabulary: <0x0A>.
std::string byte_piece(unsigned char byte);

struct PieceOptions {
  /// What gets a "▁" that it does not have: nothing, the text where it begins, or each stretch between added tokens.
  enum class Prefix { none, text, stretch };
  Prefix prefix = Prefix::stretch;
  /// Whether the "▁" is there before added tokens are looked for in normalized text (Prepend and Replace, of which
  /// prefix is `none` or `stretch`), or comes behind (Metaspace).
  bool as_normalizer = true;
  bool once = false;  // text that begins with a space, or with "▁", gets none
  bool operator==(const PieceOptions&) const = default;
};

/// Appends the ids of text whose spaces are "▁".
using PieceEncoder = std::function<void(std::string_view text, std::vector<int64_t>& ids)>;

/// By the merges of a tokenizer.json. Throws Error(run_failed): a byte without a piece, a merge that does not fit.
PieceEncoder merging_encoder(const Merges& merges, const TokenTable& table);
/// By SentencePiece, from a model that adds no space of its own.
PieceEncoder sentence_piece_encoder(SentencePieces pieces);

class PieceTokenizer final : public ModelTokenizer {
 public:
  /// `unknown` is the id of characters that cannot be spelled; -1 where there are none. Throws Error(run_failed): added
  /// tokens that do not fit.
  PieceTokenizer(TokenizerParts parts, PieceEncoder encoder, PieceOptions options, int64_t unknown);

  int64_t unknown() const override { return unknown_; }
  bool begins_with_space() const override { return options_.prefix != PieceOptions::Prefix::none; }
  std::optional<std::string> bytes_of(int64_t id) const override;
  /// As ByteBpe's; the space that is no part of the text is in no span, and a byte's span is that byte.
  std::optional<std::vector<TextSpan>> locate(std::string_view text) const override;

 private:
  bool gets_prefix(std::string_view text, bool first) const;
  std::string spelled(std::string_view text, bool prefix) const;
  std::string normalize(std::string_view text) const override;
  void encode_text(std::string_view text, bool first, std::vector<int64_t>& ids) const override;

  PieceEncoder encoder_;
  PieceOptions options_;
  int64_t unknown_;
  bool has_bytes_ = false;
};

}  // namespace headprune
