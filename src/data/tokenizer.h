// The interface of what turns text into token ids: a vocabulary built here, or the tokenizer that a model brings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "data/token_unit.h"

namespace headprune {

/// Special tokens around one text, or around and between two.
struct SequenceForm {
  std::vector<int64_t> before, between, after;
  bool second_type = false;  // the second text and `after` have token type 1
  size_t typed_between = 0;  // how many of `between`, the last ones, then have it too
  bool cut_left = false;     // what is too long loses its beginning (truncation_side: left), else its end

  int64_t specials(size_t texts) const {
    return static_cast<int64_t>(before.size() + after.size() + (texts > 1 ? between.size() : 0));
  }
};

/// Bytes of a text, from `begin` up to `end`.
struct TextSpan {
  size_t begin = 0, end = 0;
  bool operator==(const TextSpan&) const = default;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Ids are 0 ... size() - 1.
  virtual int64_t size() const = 0;
  /// As it is spelled in its file.
  virtual const std::string& token(int64_t id) const = 0;
  /// The bytes of text that a token stands for, where those of encode()'s tokens, one after the other, are the text
  /// itself; nothing for a tokenizer that loses some of it.
  virtual std::optional<std::string> bytes_of(int64_t /*id*/) const { return std::nullopt; }
  /// The text of ids, as far as tokens keep it; special ones, and those that keep nothing, as they are spelled. Bytes
  /// that end inside a character are no valid UTF-8.
  virtual std::string decode(const std::vector<int64_t>& ids) const;
  /// Ids of valid UTF-8 text, special tokens not added.
  virtual std::vector<int64_t> encode(std::string_view text) const = 0;
  /// Where each token of encode(text) stands in the text; nothing where the tokenizer cannot say.
  virtual std::optional<std::vector<TextSpan>> locate(std::string_view /*text*/) const { return std::nullopt; }
  /// Whether encode() begins a text with a space of its own, which the first token of a text then has too much.
  virtual bool begins_with_space() const { return false; }
  /// The id of text that cannot be spelled; -1 where every text can.
  virtual int64_t unknown() const = 0;
  /// `texts` is 1 or 2.
  virtual SequenceForm form(size_t texts) const = 0;
  /// The unit of a vocabulary built here; nothing for a tokenizer that splits by rules of its own.
  virtual std::optional<TokenUnit> unit() const { return std::nullopt; }
  /// Writes its files into a model folder (not committed).
  virtual void write(FolderWriter& folder) const = 0;
};

/// Files of a model folder that a tokenizer of any kind is read from or that belong to it, those that are there.
std::vector<std::filesystem::path> tokenizer_files(const std::filesystem::path& folder);
/// Whether the folder holds a tokenizer, of a supported kind or not.
bool has_tokenizer(const std::filesystem::path& folder);

/// The tokenizer of a model folder: source.spm with target.spm (a TranslationTokenizer), vocabulary.json (built here),
/// tokenizer.json, vocab.txt, vocab.json with merges.txt, or tokenizer.model (docs/formats.md section 4). Throws
/// Error(run_failed): no such file, a damaged one, a kind that is not supported.
std::shared_ptr<const Tokenizer> read_tokenizer(const std::filesystem::path& folder);

/// Throws Error(usage) where data.unit asks for another unit than that of the loaded model's tokenizer.
void require_unit(const Tokenizer& loaded, TokenUnit asked);

}  // namespace headprune
