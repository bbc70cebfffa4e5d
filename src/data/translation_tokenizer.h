// Both sides of a translation: the text that is read and the text that is written.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentence_pieces.h"
#include "data/tokenizer.h"
#include "data/tokenizer_files.h"

namespace headprune {

/// What Tokenizer asks for is answered for the source side. Files: source.spm and target.spm, and those of a Marian
/// folder, all kept as they are.
class TranslationTokenizer : public Tokenizer {
 public:
  /// Learns the pieces of texts: one model for both sides (`options.joint`), or one of `options.size` for each.
  /// Throws Error(usage) as learn_pieces().
  static std::shared_ptr<const TranslationTokenizer> learn(const std::vector<std::string>& source,
                                                           const std::vector<std::string>& target,
                                                           const SubwordOptions& options);
  /// From SentencePiece models; joint where both have the same bytes. Throws Error(usage) for a file that cannot be
  /// read, Error(run_failed) for one that is no such model or lacks an end (or a start) of sentence.
  static std::shared_ptr<const TranslationTokenizer> from_models(const std::filesystem::path& source,
                                                                 const std::filesystem::path& target);
  /// From a model folder's source.spm and target.spm. With a vocab.json it is one of the Marian family: that file gives
  /// the ids of both sides. Throws Error(run_failed), one sentence with file and place.
  static std::shared_ptr<const TranslationTokenizer> from_files(TokenizerFiles files);

  virtual int64_t target_size() const = 0;
  /// As it is spelled in its file.
  virtual const std::string& target_token(int64_t id) const = 0;
  /// Whether both sides share one space of ids, so that a model may share its embeddings.
  virtual bool joint() const = 0;
  virtual std::vector<int64_t> encode_target(std::string_view text) const = 0;
  /// The text of ids, special ones left out. Throws std::out_of_range for an id that is none.
  virtual std::string decode_target(const std::vector<int64_t>& ids) const = 0;
  virtual int64_t target_unknown() const = 0;
  /// What the decoder reads first.
  virtual int64_t start() const = 0;
  /// The last id of a target. form() ends a source with that side's, the same one where joint().
  virtual int64_t end() const = 0;

  void write(FolderWriter& folder) const override { files_.write(folder); }
  const TokenizerFiles& files() const { return files_; }
  /// Whether the SentencePiece files have the same bytes.
  bool same_models(const TranslationTokenizer& other) const;

 protected:
  explicit TranslationTokenizer(TokenizerFiles files) : files_(std::move(files)) {}

 private:
  TokenizerFiles files_;
};

inline constexpr const char *kSourceModel = "source.spm", *kTargetModel = "target.spm";

}  // namespace headprune
