#include "data/translation_tokenizer.h"

#include "core/error.h"
#include "core/open_file.h"
#include "data/tokenizer_readers.h"

namespace headprune {

namespace {

/// Ids as the library gives them.
class SentencePieceTokenizer final : public TranslationTokenizer {
 public:
  SentencePieceTokenizer(TokenizerFiles files, SentencePieces source, SentencePieces target)
      : TranslationTokenizer(std::move(files)),
        source_(std::move(source)),
        target_(std::move(target)),
        joint_(this->files().bytes(kSourceModel) == this->files().bytes(kTargetModel)) {
    for (const SentencePieces* side : {&source_, &target_})
      if (side->sentence_end() < 0)
        fail(ExitCode::run_failed, "{}: the model has no </s>, which ends a sentence; train it with an eos_id",
             side->where());
    start_ = target_.sentence_start() >= 0 ? target_.sentence_start() : target_.padding();
    if (start_ < 0)
      fail(ExitCode::run_failed,
           "{}: the model has neither <s> nor <pad>, so a decoder has nothing to start from; train it with a bos_id",
           target_.where());
  }

  int64_t size() const override { return source_.size(); }
  const std::string& token(int64_t id) const override { return source_.piece(id); }
  std::vector<int64_t> encode(std::string_view text) const override { return source_.encode(text); }
  int64_t unknown() const override { return source_.unknown(); }
  SequenceForm form(size_t) const override {
    return {.before = {}, .between = {}, .after = {source_.sentence_end()}, .second_type = false};
  }

  int64_t target_size() const override { return target_.size(); }
  const std::string& target_token(int64_t id) const override { return target_.piece(id); }
  bool joint() const override { return joint_; }
  std::vector<int64_t> encode_target(std::string_view text) const override { return target_.encode(text); }
  std::string decode_target(const std::vector<int64_t>& ids) const override { return target_.decode(ids); }
  int64_t target_unknown() const override { return target_.unknown(); }
  int64_t start() const override { return start_; }
  int64_t end() const override { return target_.sentence_end(); }

 private:
  SentencePieces source_, target_;
  bool joint_;
  int64_t start_ = -1;
};

/// `where` are the places of the two models in errors.
std::shared_ptr<const TranslationTokenizer> with_library_ids(TokenizerFiles files, const std::string& source_where,
                                                             const std::string& target_where) {
  SentencePieces source(files.bytes(kSourceModel), source_where), target(files.bytes(kTargetModel), target_where);
  return std::make_shared<const SentencePieceTokenizer>(std::move(files), std::move(source), std::move(target));
}

}  // namespace

std::shared_ptr<const TranslationTokenizer> TranslationTokenizer::learn(const std::vector<std::string>& source,
                                                                        const std::vector<std::string>& target,
                                                                        const SubwordOptions& options) {
  std::string source_model, target_model;
  if (options.joint) {
    std::vector<std::string> both = source;
    both.insert(both.end(), target.begin(), target.end());
    source_model = target_model = learn_pieces(std::move(both), options, "the training texts");
  } else {
    source_model = learn_pieces(source, options, "the source side's training texts");
    target_model = learn_pieces(target, options, "the target side's training texts");
  }
  TokenizerFiles files("", {{kSourceModel, std::move(source_model)}, {kTargetModel, std::move(target_model)}});
  return with_library_ids(std::move(files), kSourceModel, kTargetModel);
}

std::shared_ptr<const TranslationTokenizer> TranslationTokenizer::from_models(const std::filesystem::path& source,
                                                                              const std::filesystem::path& target) {
  TokenizerFiles files(source.parent_path(), {{kSourceModel, read_file_up_to(source, kMaxJsonFile)},
                                              {kTargetModel, read_file_up_to(target, kMaxJsonFile)}});
  return with_library_ids(std::move(files), source.string(), target.string());
}

std::shared_ptr<const TranslationTokenizer> TranslationTokenizer::from_files(TokenizerFiles files) {
  const bool source = files.has(kSourceModel);
  if (!source || !files.has(kTargetModel))
    fail(ExitCode::run_failed, "{}: {} is there without {}; copy both into the folder", files.folder().string(),
         source ? kSourceModel : kTargetModel, source ? kTargetModel : kSourceModel);
  if (files.has("vocab.json")) return read_marian(std::move(files));
  const std::string source_where = files.path(kSourceModel), target_where = files.path(kTargetModel);
  return with_library_ids(std::move(files), source_where, target_where);
}

bool TranslationTokenizer::same_models(const TranslationTokenizer& other) const {
  return files_.bytes(kSourceModel) == other.files_.bytes(kSourceModel) &&
         files_.bytes(kTargetModel) == other.files_.bytes(kTargetModel);
}

}  // namespace headprune
