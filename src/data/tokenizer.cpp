#include "data/tokenizer.h"

#include <algorithm>

#include "core/error.h"
#include "core/open_file.h"
#include "data/tokenizer_files.h"
#include "data/tokenizer_readers.h"
#include "data/vocabulary.h"

namespace headprune {

namespace {

constexpr const char* kVocabulary = "vocabulary.json";

constexpr const char* kSupported =
    "supported: tokenizer.json (WordPiece, BPE), vocab.txt, vocab.json with merges.txt, tokenizer.model, source.spm "
    "with "
    "target.spm, or the vocabulary.json of headprune";

/// Files of tokenizers that are not supported, to say so rather than that there is none.
constexpr const char* kSentencePiece[] = {"spiece.model", "sentencepiece.bpe.model"};

/// Each of these alone says that there is a tokenizer.
constexpr const char* kStarts[] = {kVocabulary,       "tokenizer.json", "vocab.txt", "vocab.json",
                                   "tokenizer.model", kSourceModel,     kTargetModel};

/// Old folders have "tokenizer_file": null in tokenizer_config.json, which makes transformers read the other files.
bool puts_aside_json(const TokenizerFiles& files) {
  const Json config = files.object("tokenizer_config.json");
  return config.contains("tokenizer_file") && config["tokenizer_file"].is_null() &&
         (files.has("vocab.txt") || (files.has("vocab.json") && files.has("merges.txt")));
}

}  // namespace

std::string Tokenizer::decode(const std::vector<int64_t>& ids) const {
  std::string text;
  for (const int64_t id : ids) {
    if (const auto bytes = bytes_of(id))
      text += *bytes;
    else
      text += (text.empty() ? "" : " ") + token(id);
  }
  return text;
}

std::vector<fs::path> tokenizer_files(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::exists(folder / kVocabulary)) files.push_back(folder / kVocabulary);
  for (const char* name : kTokenizerFiles)
    if (fs::exists(folder / name)) files.push_back(folder / name);
  return files;
}

bool has_tokenizer(const fs::path& folder) {
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](const char* name) { return fs::exists(folder / name); });
}

std::shared_ptr<const Tokenizer> read_tokenizer(const std::filesystem::path& folder) {
  if (fs::exists(folder / kSourceModel) || fs::exists(folder / kTargetModel))
    return TranslationTokenizer::from_files(TokenizerFiles(folder));
  if (const auto path = folder / kVocabulary; fs::exists(path))
    return std::make_shared<const Vocabulary>(Vocabulary::from_json(read_json(path), path.string()));
  TokenizerFiles files(folder);
  if (files.has("tokenizer.json") && !puts_aside_json(files)) return read_tokenizer_json(std::move(files));
  if (files.has("vocab.txt")) return read_vocab_txt(std::move(files));
  if (files.has("vocab.json") && files.has("merges.txt")) return read_vocab_json(std::move(files));
  if (files.has("tokenizer.model")) return read_tokenizer_model(std::move(files));
  if (files.has("vocab.json") || files.has("merges.txt"))
    fail(ExitCode::run_failed, "{}: {} is there without {}; copy both into the folder", folder.string(),
         files.has("vocab.json") ? "vocab.json" : "merges.txt", files.has("vocab.json") ? "merges.txt" : "vocab.json");
  for (const char* name : kSentencePiece)
    if (fs::exists(folder / name))
      fail(ExitCode::run_failed, "{}: {} is a SentencePiece tokenizer, which is not supported; {}", folder.string(),
           name, kSupported);
  fail(ExitCode::run_failed, "{}: a model folder without tokenizer; {}", folder.string(), kSupported);
}

void require_unit(const Tokenizer& loaded, TokenUnit asked) {
  if (!loaded.unit())
    fail(ExitCode::usage, "data.unit is {}, but the loaded model brings a tokenizer of its own; leave data.unit out",
         enum_name(asked));
  if (*loaded.unit() != asked)
    fail(ExitCode::usage, "data.unit is {}, but the loaded model's tokens are of unit {}; set data.unit: {}",
         enum_name(asked), enum_name(*loaded.unit()), enum_name(*loaded.unit()));
}

}  // namespace headprune
