// `text`: one plain text for language modelling, cut into parts and windows in file order (docs/formats.md section 4).
#include "core/text.h"

#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "data/source.h"
#include "data/splits.h"
#include "data/vocabulary.h"

namespace headprune {

/// What language modelling predicts.
enum class TextUnit { character, byte };
template <>
struct EnumNames<TextUnit> {
  static constexpr std::pair<const char*, TextUnit> names[] = {{"character", TextUnit::character},
                                                               {"byte", TextUnit::byte}};
};

struct TextFractions {
  double train = 0.9, dev = 0.05, test = 0.05;

  template <class V>
  void fields(V& v) {
    v("train", train, "fraction of the text, from its beginning", above(0), at_most(1));
    v("dev", dev, "fraction that follows", between(0, 1));
    v("test", test, "fraction that follows", between(0, 1));
  }
  std::string check() const {
    // Decimal fractions do not add up exactly.
    return train + dev + test <= 1 + 1e-9 ? std::string() : "the fractions add up to more than 1";
  }
};

namespace {

int64_t line_of(std::string_view text, size_t offset) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
}

/// A part of the text in tokens. `texts`: what each stands for; empty where the tokens do not keep the text.
struct EncodedPart {
  std::vector<int64_t> ids;
  std::vector<std::string> texts;
};

int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

/// Windows of `context_length` tokens, each beginning `stride` behind the one before; the target of a token is the one
/// that follows it. A target that the window before has is left out, so each token of the part but its first is
/// predicted once, by a window in which at least context_length - stride tokens stand before it, or all there are. The
/// last window may be shorter.
std::vector<Example> windows(const EncodedPart& part, int64_t context_length, int64_t stride) {
  const std::vector<int64_t>& ids = part.ids;
  std::vector<Example> examples;
  const auto predicted = static_cast<int64_t>(ids.size()) - 1;
  for (int64_t begin = 0, done = 0; done < predicted; begin += stride) {
    const int64_t end = std::min(begin + context_length, predicted);
    Example example;
    example.tokens.assign(ids.begin() + begin, ids.begin() + end);
    example.targets.assign(ids.begin() + begin + 1, ids.begin() + end + 1);
    std::fill_n(example.targets.begin(), done - begin, kNoTarget);
    for (int64_t at = done + 1; at <= end && !part.texts.empty(); ++at) {
      const std::string& text = part.texts[static_cast<size_t>(at)];
      example.characters += characters_in(text);
      example.bytes += std::ssize(text);
    }
    examples.push_back(std::move(example));
    done = end;
  }
  return examples;
}

}  // namespace

class TextSource : public DataSource {
 public:
  struct Options {
    std::filesystem::path path;
    std::optional<TextUnit> unit;
    TextFractions fractions;
    int64_t context_length = 128;
    std::optional<int64_t> stride;
    int64_t vocabulary_size = 1000;
    RoleOptions roles;

    template <class V>
    void fields(V& v) {
      v("path", path, "the text file", required, existing_file);
      v("unit", unit, "what a token is: character or byte; absent: character, or what a loaded model brings");
      v("fractions", fractions, "contiguous cuts of the text, in file order, into the train, dev and test parts");
      v("context_length", context_length, "tokens of a window", at_least(2));
      v("stride", stride,
        "tokens from the beginning of a window to that of the next: at most context_length; of windows that overlap, "
        "all but the first predict their last `stride` tokens alone; absent: context_length, windows do not overlap",
        at_least(1));
      v("vocabulary_size", vocabulary_size,
        "at most this many characters, the most frequent of the train part; of bytes "
        "260",
        at_least(5));
      roles.fields(v);
    }
    CrossProblems problems() const {
      if (!stride || *stride <= context_length) return {};
      return {{"stride", fmt::format("{} is more than context_length {}: tokens between windows would be left out",
                                     *stride, context_length)}};
    }
  };

  explicit TextSource(Options options) : options_(std::move(options)) {}
  bool gives(DataKind kind) const override { return kind == DataKind::language; }
  std::vector<InputFile> inputs() const override { return {{"data.text", options_.path}}; }
  Dataset load(const LoadInput& input) const override;

 private:
  using Units = std::vector<std::string_view>;
  TokenUnit unit() const { return options_.unit == TextUnit::byte ? TokenUnit::byte : TokenUnit::character; }
  std::shared_ptr<const Tokenizer> tokenizer(const Units& train, const LoadInput& input) const;
  EncodedPart encode(Part part, const Units& units, Dataset& dataset) const;

  Options options_;
};

std::shared_ptr<const Tokenizer> TextSource::tokenizer(const Units& train, const LoadInput& input) const {
  if (input.tokenizer) {
    if (input.tokenizer->unit() || options_.unit) require_unit(*input.tokenizer, unit());
    return input.tokenizer;
  }
  std::unordered_map<std::string, int64_t> counts;
  if (unit() != TokenUnit::byte)
    for (const std::string_view character : train) ++counts[std::string(character)];
  return std::make_shared<const Vocabulary>(Vocabulary::build(unit(), counts, options_.vocabulary_size));
}

namespace {

/// What each token stands for; empty where put together they are not the text.
std::vector<std::string> token_texts(const Tokenizer& tokenizer, const std::vector<int64_t>& ids,
                                     const std::vector<std::string_view>& units, std::string_view text) {
  if (tokenizer.unit()) {  // one token a unit, an unknown one too
    if (ids.size() != units.size()) return {};
    return {units.begin(), units.end()};
  }
  std::vector<std::string> texts;
  std::string whole;
  for (const int64_t id : ids) {
    const std::optional<std::string> bytes = tokenizer.bytes_of(id);
    if (!bytes) return {};
    whole += *bytes;
    texts.push_back(*bytes);
  }
  // The space that a tokenizer puts before a text belongs to its first token, which is not predicted.
  const bool kept = whole == text || (whole.size() == text.size() + 1 && whole[0] == ' ' && whole.ends_with(text));
  return kept ? texts : std::vector<std::string>();
}

}  // namespace

/// `units` lie one after the other in the text.
EncodedPart TextSource::encode(Part part, const Units& units, Dataset& dataset) const {
  if (units.empty()) return {};
  const char* const begin = units.front().data();
  const std::string_view text(begin, static_cast<size_t>(units.back().data() + units.back().size() - begin));
  EncodedPart encoded{dataset.tokenizer->encode(text), {}};
  const std::vector<int64_t>& ids = encoded.ids;
  encoded.texts = token_texts(*dataset.tokenizer, ids, units, text);
  const auto unknown = std::count(ids.begin(), ids.end(), dataset.tokenizer->unknown());
  if (unknown > 0)
    warn(dataset, fmt::format("{} of {} tokens of the {} part are not in the vocabulary and count as one unknown token",
                              unknown, ids.size(), enum_name(part)));
  log_info("[data] {}: {} {}s, {} tokens", enum_name(part), units.size(), enum_name(unit()), ids.size());
  return encoded;
}

Dataset TextSource::load(const LoadInput& input) const {
  const std::string text = read_file(options_.path);
  if (unit() == TokenUnit::character)
    if (const auto bad = invalid_utf8(text))
      fail(ExitCode::run_failed, "{}:{}: invalid UTF-8; convert the file, or set data.unit: byte",
           options_.path.string(), line_of(text, *bad));

  const Units units = split_units(unit(), text);
  std::array<Units, kParts.size()> cuts;
  double fraction = 0;
  size_t begin = 0;
  for (const Part part : kParts) {
    fraction += part_of(options_.fractions, part);
    const auto end = std::min(static_cast<size_t>(fraction * static_cast<double>(units.size()) + 0.5), units.size());
    cuts[static_cast<size_t>(part)].assign(units.begin() + static_cast<std::ptrdiff_t>(begin),
                                           units.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }

  Dataset dataset;
  if (text.starts_with("\xEF\xBB\xBF"))
    warn(dataset, "the text begins with a byte order mark, which counts as part of it; remove it if it is not meant");
  if (const auto ends = std::count(text.begin(), text.end(), '\r'); ends > 0)
    warn(dataset, fmt::format("the text has {} carriage returns (line ends of Windows), which count as part of it; "
                              "convert it if they are not meant",
                              ends));
  dataset.name = options_.path.filename().string();
  dataset.kind = DataKind::language;
  dataset.tokenizer = tokenizer(cuts[static_cast<size_t>(Part::train)], input);
  PartExamples examples;
  for (const Part part : kParts)
    examples_of(examples, part) = windows(encode(part, cuts[static_cast<size_t>(part)], dataset),
                                          options_.context_length, options_.stride.value_or(options_.context_length));
  assign_roles(dataset, std::move(examples), options_.roles, input.seed);
  return dataset;
}

namespace {
const Register<DataSource, TextSource> register_text{"text", "one plain text for language modelling"};
}  // namespace

}  // namespace headprune
