#include "data/sentence_pieces.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "core/error.h"
#include "data/splits.h"
#include "data/unicode.h"

namespace headprune {

namespace {

using sentencepiece::util::Status;

/// Encoding and decoding fail for no valid text or id.
void need_ok(const Status& status, const std::string& where) {
  if (!status.ok()) fail(ExitCode::run_failed, "{}: SentencePiece: {}", where, status.ToString());
}

class TextIterator final : public sentencepiece::SentenceIterator {
 public:
  explicit TextIterator(const std::vector<std::string>& texts) : texts_(texts) {}
  bool done() const override { return at_ >= texts_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return texts_[at_]; }
  Status status() const override { return {}; }

 private:
  const std::vector<std::string>& texts_;
  size_t at_ = 0;
};

/// Whether learning finds anything in a text. Where nothing is left of all texts, the library ends the process; it
/// leaves out a text with its own mark of the unknown.
bool learnable(std::string_view text) {
  if (text.find("\u2585") != std::string_view::npos) return false;
  for (size_t at = 0; at < text.size();)
    if (const int32_t code_point = take_code_point(text, at); is_letter(code_point) || is_number(code_point))
      return true;
  return false;
}

/// The number behind `words` in one of the library's sentences.
std::optional<int64_t> number_after(std::string_view sentence, std::string_view words) {
  const size_t at = sentence.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(sentence.data() + at + words.size(), sentence.data() + sentence.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

[[noreturn]] void fail_to_learn(const std::string& sentence, const SubwordOptions& options, const std::string& of) {
  if (const auto largest = number_after(sentence, "Please set it to a value <= "))
    fail(ExitCode::usage, "data.vocabulary.size {} is more than {} allow; the largest possible is {}", options.size, of,
         *largest);
  const std::string smaller = fmt::format("smaller than required_chars. {} vs ", options.size);
  if (const auto smallest = number_after(sentence, smaller))
    fail(ExitCode::usage,
         "data.vocabulary.size {} is too small: the characters of {} alone need {} ids; raise it, or lower "
         "data.vocabulary.character_coverage",
         options.size, of, *smallest);
  fail(ExitCode::usage, "SentencePiece cannot learn a vocabulary from {}: {}", of, sentence);
}

}  // namespace

SentencePieces::SentencePieces(std::string_view model, std::string where) : where_(std::move(where)) {
  auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
  // The library takes no bytes at all for a model without pieces.
  if (model.empty() || !processor->LoadFromSerializedProto(model).ok() || processor->GetPieceSize() == 0)
    fail(ExitCode::run_failed, "{}: not a SentencePiece model, or a damaged one; get the file again", where_);
  processor_ = std::move(processor);
}

int64_t SentencePieces::size() const { return processor_->GetPieceSize(); }

const std::string& SentencePieces::piece(int64_t id) const {
  if (id < 0 || id >= size()) throw std::out_of_range(fmt::format("{}: no id {}", where_, id));
  return processor_->IdToPiece(static_cast<int>(id));
}

int64_t SentencePieces::unknown() const { return processor_->unk_id(); }
int64_t SentencePieces::sentence_start() const { return processor_->bos_id(); }
int64_t SentencePieces::sentence_end() const { return processor_->eos_id(); }
int64_t SentencePieces::padding() const { return processor_->pad_id(); }
bool SentencePieces::control(int64_t id) const { return processor_->IsControl(static_cast<int>(id)); }
std::optional<std::string> SentencePieces::user_defined() const {
  // The library does not say it, but with a vocabulary of nothing it leaves all others unused that are more than one
  // character; those of one it gives no score.
  sentencepiece::SentencePieceProcessor bare;
  need_ok(bare.LoadFromSerializedProto(processor_->serialized_model_proto()), where_);
  need_ok(bare.SetVocabulary(std::vector<absl::string_view>{}), where_);
  for (int id = 0; id < bare.GetPieceSize(); ++id) {
    if (bare.IsUnused(id) || bare.IsControl(id) || bare.IsUnknown(id)) continue;
    const std::string& piece = bare.IdToPiece(id);
    size_t first = 0;
    take_code_point(piece, first);
    if (first < piece.size() || bare.GetScore(id) == 0) return piece;
  }
  return std::nullopt;
}
bool SentencePieces::spells_bytes() const {
  for (int id = 0; id < processor_->GetPieceSize(); ++id)
    if (processor_->IsByte(id)) return true;
  return false;
}

std::vector<int64_t> SentencePieces::encode(std::string_view text) const {
  std::vector<int> ids;
  need_ok(processor_->Encode(text, &ids), where_);
  return {ids.begin(), ids.end()};
}

std::vector<std::string> SentencePieces::encode_pieces(std::string_view text) const {
  std::vector<std::string> pieces;
  need_ok(processor_->Encode(text, &pieces), where_);
  return pieces;
}

std::string SentencePieces::decode(const std::vector<int64_t>& ids) const {
  std::vector<int> known;
  for (const int64_t id : ids) {
    piece(id);
    known.push_back(static_cast<int>(id));
  }
  std::string text;
  need_ok(processor_->Decode(known, &text), where_);
  return text;
}

std::string SentencePieces::decode_pieces(const std::vector<std::string>& pieces) const {
  std::string text;
  need_ok(processor_->Decode(pieces, &text), where_);
  return text;
}

std::string learn_pieces(std::vector<std::string> texts, const SubwordOptions& options, const std::string& of) {
  if (options.sample > 0 && options.sample < static_cast<int64_t>(texts.size())) {
    std::vector<std::string> drawn;
    for (const int64_t index : seeded_sample(static_cast<int64_t>(texts.size()), options.sample,
                                             static_cast<uint64_t>(options.seed), "data/vocabulary"))
      drawn.push_back(std::move(texts[static_cast<size_t>(index)]));
    texts = std::move(drawn);
  }
  if (std::none_of(texts.begin(), texts.end(), learnable))
    fail(ExitCode::usage, "SentencePiece cannot learn a vocabulary from {}: not one letter or number in it", of);
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  // Learning from all of the texts draws nothing today; should a release do so, it is from a seed all the same.
  sentencepiece::SetRandomGeneratorSeed(static_cast<unsigned int>(options.seed));
  TextIterator iterator(texts);
  std::string model;
  const Status status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", enum_name(options.type)},
       {"vocab_size", std::to_string(options.size)},
       {"character_coverage", fmt::format("{}", options.character_coverage)},
       {"max_sentence_length", std::to_string(std::max<size_t>(longest, 4192))},  // longer texts would be left out
       {"num_threads", "1"},  // sums of unigram probabilities depend on it
       {"pad_id", "0"},
       {"unk_id", "1"},
       {"bos_id", "2"},
       {"eos_id", "3"},
       {"minloglevel", "2"}},
      &iterator, &model);
  if (!status.ok()) fail_to_learn(status.ToString(), options, of);
  return model;
}

}  // namespace headprune
