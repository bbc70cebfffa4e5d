// SentencePiece through its library; nothing else includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace headprune {

enum class SubwordType { bpe, unigram };
template <>
struct EnumNames<SubwordType> {
  static constexpr std::pair<const char*, SubwordType> names[] = {{"bpe", SubwordType::bpe},
                                                                  {"unigram", SubwordType::unigram}};
};

/// How pieces are learnt; what is not named here is the library's default.
struct SubwordOptions {
  int64_t size = 8000;  // ids in all, special ones included
  SubwordType type = SubwordType::bpe;
  double character_coverage = 0.9995;  // characters beyond this fraction of the text have no piece
  int64_t sample = 0;                  // learn from this many of the texts, drawn by `seed`; 0: from all
  int64_t seed = 1;
  bool joint = true;  // one set of pieces for both sides of a translation
};

/// The pieces of one language, and their ids as the library gives them. Texts are valid UTF-8.
class SentencePieces {
 public:
  /// From the bytes of a .model or .spm file. Throws Error(run_failed) naming `where`, the file: it is not one.
  SentencePieces(std::string_view model, std::string where);

  int64_t size() const;
  /// Throws std::out_of_range for an id that is none.
  const std::string& piece(int64_t id) const;
  int64_t unknown() const;
  /// Ids of <s>, </s> and <pad>; -1 where the model has none.
  int64_t sentence_start() const;
  int64_t sentence_end() const;
  int64_t padding() const;
  /// Whether a piece is one that no text is spelled with.
  bool control(int64_t id) const;
  /// A piece that is found in texts before the others, where the model has one.
  std::optional<std::string> user_defined() const;
  /// Whether characters without a piece are spelled by their bytes.
  bool spells_bytes() const;

  std::vector<int64_t> encode(std::string_view text) const;
  std::vector<std::string> encode_pieces(std::string_view text) const;
  /// Control ids give no text, the unknown one gives " ⁇ ". Throws std::out_of_range for an id that is none.
  std::string decode(const std::vector<int64_t>& ids) const;
  /// Pieces that the model lacks stand for themselves.
  std::string decode_pieces(const std::vector<std::string>& pieces) const;

  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::shared_ptr<const sentencepiece::SentencePieceProcessor> processor_;
};

/// The bytes of a model with ids 0 <pad>, 1 <unk>, 2 <s>, 3 </s>, then the pieces: a function of its arguments and the
/// library's release (0.1.97 and 0.2.0 learn different pieces from the same German text). `of` says in errors which
/// texts these are. Throws Error(usage): more pieces than the texts have, fewer than their characters need, texts
/// without a letter or number.
std::string learn_pieces(std::vector<std::string> texts, const SubwordOptions& options, const std::string& of);

}  // namespace headprune
