// `aligned`: two plain text files of a part, line i of the one translated by line i of the other (docs/formats.md
// section 4).
#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/text.h"
#include "data/sequence.h"
#include "data/source.h"
#include "data/splits.h"
#include "data/text_lines.h"
#include "data/translation_tokenizer.h"

namespace headprune {

struct AlignedFiles {
  std::string train = "train", dev = "dev", test = "test";

  template <class V>
  void fields(V& v) {
    v("train", train, "files of the train part: this name, a dot and the language", not_empty);
    v("dev", dev, "files of the dev part", not_empty);
    v("test", test, "files of the test part", not_empty);
  }
};

/// Absent ones have a default, so that one that was written beside a model's file can be told.
struct AlignedVocabulary {
  std::optional<int64_t> size;
  std::optional<bool> joint;
  std::optional<SubwordType> type;
  std::optional<double> character_coverage;
  std::optional<int64_t> sample, seed;
  std::optional<std::filesystem::path> model, source_model, target_model;

  template <class V>
  void fields(V& v) {
    v("size", size, "ids in all, of both languages together or (joint: false) of each; absent: 8000", at_least(5));
    v("joint", joint, "one vocabulary for both languages; absent: true");
    v("type", type, "how SentencePiece learns the pieces, bpe or unigram; absent: bpe");
    v("character_coverage", character_coverage,
      "fraction of the text whose characters have pieces, the rarest others being unknown; absent: 0.9995", above(0),
      at_most(1));
    v("sample", sample, "learn from a sample of this many texts of the train part; absent: from all", at_least(1));
    v("seed", seed, "draws that sample; absent: 1", between(0, 4294967295.0));
    v("model", model, "a SentencePiece file to use for both languages instead of learning one", existing_file);
    v("source_model", source_model, "a SentencePiece file for the source language", existing_file);
    v("target_model", target_model, "a SentencePiece file for the target language", existing_file);
  }
  CrossProblems problems() const;

  SubwordOptions options() const {
    const SubwordOptions usual;
    return {.size = size.value_or(usual.size),
            .type = type.value_or(usual.type),
            .character_coverage = character_coverage.value_or(usual.character_coverage),
            .sample = sample.value_or(usual.sample),
            .seed = seed.value_or(usual.seed),
            .joint = joint.value_or(usual.joint)};
  }
};

CrossProblems AlignedVocabulary::problems() const {
  CrossProblems found;
  if (model && source_model) found.emplace_back("source_model", "model is the file of both languages; leave one out");
  if (model && target_model) found.emplace_back("target_model", "model is the file of both languages; leave one out");
  if (source_model && !target_model) found.emplace_back("source_model", "needs target_model beside it");
  if (target_model && !source_model) found.emplace_back("target_model", "needs source_model beside it");
  if (!model && !source_model && !target_model) {
    if (seed && !sample) found.emplace_back("seed", "draws the sample; without vocabulary.sample nothing is drawn");
    return found;
  }
  const std::pair<const char*, bool> learning[] = {
      {"size", size.has_value()},     {"joint", joint.has_value()},
      {"type", type.has_value()},     {"character_coverage", character_coverage.has_value()},
      {"sample", sample.has_value()}, {"seed", seed.has_value()}};
  for (const auto& [key, set] : learning)
    if (set) found.emplace_back(key, "says how a vocabulary is learnt, but a file gives it; leave one of them out");
  return found;
}

namespace {

/// Line by line.
struct AlignedTexts {
  std::filesystem::path source_file, target_file;
  std::vector<std::string> source, target;

  int64_t size() const { return static_cast<int64_t>(source.size()); }
};

void refuse_empty_lines(const std::vector<std::string>& lines, const std::filesystem::path& file,
                        const std::filesystem::path& other) {
  const auto empty =
      std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return trim(line).empty(); });
  if (empty != lines.end())
    fail(ExitCode::run_failed, "{}:{}: the line is empty; remove it here and in {}", file.string(),
         empty - lines.begin() + 1, other.string());
}

}  // namespace

class AlignedSource : public DataSource {
 public:
  struct Options {
    std::filesystem::path path;
    std::string source, target;
    AlignedFiles files;
    AlignedVocabulary vocabulary;
    std::optional<int64_t> max_length;
    RoleOptions roles;

    template <class V>
    void fields(V& v) {
      v("path", path, "folder that holds the parts", required, existing_folder);
      v("source", source, "language that is read, which its files end with: en", required, not_empty);
      v("target", target, "language that is written: de", required, not_empty);
      v("files", files, "file names of the parts, without the language");
      v("vocabulary", vocabulary, "pieces of words that are tokens, learnt from the train part or read from files");
      v("max_length", max_length,
        "at most this many tokens on each side, the end token included: longer pairs of the train part are left out, "
        "elsewhere they are an error; null: no limit",
        at_least(2));
      roles.fields(v);
    }
    CrossProblems problems() const {
      if (source != target || source.empty()) return {};
      return {{"target", "is the language of the source"}};
    }
  };

  explicit AlignedSource(Options options) : options_(std::move(options)) {}
  bool gives(DataKind kind) const override { return kind == DataKind::translation; }
  std::vector<InputFile> inputs() const override;
  Dataset load(const LoadInput& input) const override;

 private:
  using TokenizerPtr = std::shared_ptr<const TranslationTokenizer>;

  std::filesystem::path file_of(Part part, const std::string& language) const {
    return options_.path / (part_of(options_.files, part) + "." + language);
  }
  AlignedTexts read_part(Part part) const;
  TokenizerPtr read_vocabulary() const;
  TokenizerPtr learn_vocabulary(const AlignedTexts& train, uint64_t seed) const;
  TokenizerPtr tokenizer(const AlignedTexts& train, const LoadInput& input) const;
  std::vector<Example> encode(Part part, const AlignedTexts& texts, const TranslationTokenizer& tokenizer,
                              Dataset& dataset) const;
  bool too_long(Part part, const Example& example, const AlignedTexts& texts, int64_t index) const;

  Options options_;
};

std::vector<InputFile> AlignedSource::inputs() const {
  std::vector<InputFile> files;
  for (const Part part : kParts) {
    if (!options_.roles.uses(part)) continue;
    const char* name = enum_name(part);
    for (const auto& [side, language] : {std::pair("source", options_.source), std::pair("target", options_.target)}) {
      const std::filesystem::path file = file_of(part, language);
      if (!fs::is_regular_file(file))
        fail(ExitCode::usage,
             "{}: there is no such file for the {} side of the {} part; name the part's files in data.files.{}, or "
             "choose other parts in data.splits",
             file.string(), side, name, name);
      files.push_back({fmt::format("data.{}.{}", name, side), file});
    }
  }
  const AlignedVocabulary& vocabulary = options_.vocabulary;
  if (vocabulary.model) files.push_back({"data.vocabulary.model", *vocabulary.model});
  if (vocabulary.source_model) files.push_back({"data.vocabulary.source_model", *vocabulary.source_model});
  if (vocabulary.target_model) files.push_back({"data.vocabulary.target_model", *vocabulary.target_model});
  return files;
}

AlignedTexts AlignedSource::read_part(Part part) const {
  AlignedTexts texts;
  texts.source_file = file_of(part, options_.source);
  texts.target_file = file_of(part, options_.target);
  texts.source = read_text_lines(texts.source_file);
  texts.target = read_text_lines(texts.target_file);
  if (texts.source.size() != texts.target.size())
    fail(ExitCode::run_failed, "{} has {} lines and {} has {}; line i of the one must translate line i of the other",
         texts.source_file.string(), texts.source.size(), texts.target_file.string(), texts.target.size());
  if (texts.source.empty()) fail(ExitCode::run_failed, "{}:1: no lines in the file", texts.source_file.string());
  refuse_empty_lines(texts.source, texts.source_file, texts.target_file);
  refuse_empty_lines(texts.target, texts.target_file, texts.source_file);
  return texts;
}

/// Nothing where no file is named.
AlignedSource::TokenizerPtr AlignedSource::read_vocabulary() const {
  const AlignedVocabulary& vocabulary = options_.vocabulary;
  if (vocabulary.model) return TranslationTokenizer::from_models(*vocabulary.model, *vocabulary.model);
  if (!vocabulary.source_model) return nullptr;
  return TranslationTokenizer::from_models(*vocabulary.source_model, *vocabulary.target_model);
}

/// From what training reads of the train part, were no pair left out for its length.
AlignedSource::TokenizerPtr AlignedSource::learn_vocabulary(const AlignedTexts& train, uint64_t seed) const {
  const SubwordOptions options = options_.vocabulary.options();
  const std::optional<int64_t>& limit = options_.roles.limit.train;
  if (!limit || *limit >= train.size()) return TranslationTokenizer::learn(train.source, train.target, options);
  std::vector<std::string> source, target;
  for (const int64_t index : limit_sample(train.size(), *limit, seed, "train")) {
    source.push_back(train.source[static_cast<size_t>(index)]);
    target.push_back(train.target[static_cast<size_t>(index)]);
  }
  return TranslationTokenizer::learn(source, target, options);
}

AlignedSource::TokenizerPtr AlignedSource::tokenizer(const AlignedTexts& train, const LoadInput& input) const {
  const TokenizerPtr given = read_vocabulary();
  if (!input.tokenizer) {
    const TokenizerPtr found = given ? given : learn_vocabulary(train, input.seed);
    log_info("[data] vocabulary: {}",
             found->joint() ? fmt::format("{} ids for both languages", found->size())
                            : fmt::format("{} source and {} target ids", found->size(), found->target_size()));
    return found;
  }
  const auto brought = std::dynamic_pointer_cast<const TranslationTokenizer>(input.tokenizer);
  if (!brought)
    fail(ExitCode::usage,
         "the loaded model's tokenizer is not one for translation, which has a source.spm and a target.spm; choose a "
         "model that translates");
  if (given && !given->same_models(*brought)) {
    const AlignedVocabulary& files = options_.vocabulary;
    fail(ExitCode::usage,
         "{} is a SentencePiece file of another run: the loaded model brings {} and {}, which have other bytes; leave "
         "data.vocabulary out",
         (files.model ? *files.model : *files.source_model).string(), brought->files().path(kSourceModel),
         brought->files().path(kTargetModel));
  }
  return brought;
}

/// Whether a pair is to be left out. Throws Error(run_failed) where none may be.
bool AlignedSource::too_long(Part part, const Example& example, const AlignedTexts& texts, int64_t index) const {
  if (!options_.max_length) return false;
  const auto source = static_cast<int64_t>(example.tokens.size());
  const auto target = static_cast<int64_t>(example.targets.size());
  const int64_t limit = *options_.max_length;
  if (std::max(source, target) <= limit) return false;
  if (part == Part::train) return true;
  fail(
      ExitCode::run_failed,
      "{}:{}: {} tokens are more than data.max_length {}; only pairs of the train part are left out: shorten the line, "
      "or raise data.max_length",
      (source > limit ? texts.source_file : texts.target_file).string(), index + 1, source > limit ? source : target,
      limit);
}

std::vector<Example> AlignedSource::encode(Part part, const AlignedTexts& texts, const TranslationTokenizer& tokenizer,
                                           Dataset& dataset) const {
  const SequenceForm form = tokenizer.form(1);
  std::vector<Example> examples;
  int64_t source = 0, target = 0, unknown = 0, copied = 0;
  for (int64_t i = 0; i < texts.size(); ++i) {
    const std::string& reference = texts.target[static_cast<size_t>(i)];
    const std::vector<int64_t> read = tokenizer.encode(texts.source[static_cast<size_t>(i)]);
    Example example = assemble({read}, form);
    example.targets = tokenizer.encode_target(reference);
    example.decoder_tokens = {tokenizer.start()};
    example.decoder_tokens.insert(example.decoder_tokens.end(), example.targets.begin(), example.targets.end());
    const auto unknown_here = std::count(read.begin(), read.end(), tokenizer.unknown()) +
                              std::count(example.targets.begin(), example.targets.end(), tokenizer.target_unknown());
    example.targets.push_back(tokenizer.end());
    example.reference = reference;
    if (too_long(part, example, texts, i)) continue;
    source += static_cast<int64_t>(example.tokens.size());
    target += static_cast<int64_t>(example.targets.size());
    unknown += unknown_here;
    copied += trim(reference) == trim(texts.source[static_cast<size_t>(i)]);
    examples.push_back(std::move(example));
  }
  const auto count = static_cast<int64_t>(examples.size());
  if (count == 0)
    fail(ExitCode::run_failed, "all {} pairs of the {} part are longer than data.max_length {}; raise it", texts.size(),
         enum_name(part), *options_.max_length);
  if (count < texts.size())
    warn(dataset, fmt::format("{} of {} {} pairs are longer than data.max_length {} on one side and were left out",
                              texts.size() - count, texts.size(), enum_name(part), *options_.max_length));
  if (copied * 20 >= count)
    warn(dataset, fmt::format("{} of {} {} pairs have the same text on both sides: are data.source and data.target two "
                              "languages?",
                              copied, count, enum_name(part)));
  log_info("[data] {}: {} pairs, {} source and {} target tokens, {:.1f} % of them unknown", enum_name(part), count,
           source, target, 100.0 * static_cast<double>(unknown) / static_cast<double>(source + target));
  return examples;
}

Dataset AlignedSource::load(const LoadInput& input) const {
  Dataset dataset;
  dataset.kind = input.kind;
  dataset.name = data_name(options_.path);
  inputs();  // refuses missing files before any is read
  std::array<AlignedTexts, kParts.size()> texts;
  for (const Part part : kParts)
    if (options_.roles.uses(part)) texts[static_cast<size_t>(part)] = read_part(part);
  const TokenizerPtr pieces = tokenizer(texts[static_cast<size_t>(Part::train)], input);
  dataset.tokenizer = pieces;
  PartExamples examples;
  for (const Part part : kParts)
    if (options_.roles.uses(part))
      examples_of(examples, part) = encode(part, texts[static_cast<size_t>(part)], *pieces, dataset);
  assign_roles(dataset, std::move(examples), options_.roles, input.seed);
  return dataset;
}

namespace {
const Register<DataSource, AlignedSource> register_aligned{
    "aligned", "texts and their translations in two plain text files, line by line"};
}  // namespace

}  // namespace headprune
