// `choices`: a context, several texts that may follow it, and which of them does (docs/formats.md section 4).
#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/text.h"
#include "data/source.h"
#include "data/splits.h"
#include "data/text_lines.h"

namespace headprune {

struct ChoiceFiles {
  std::string train = "train.jsonl", dev = "dev.jsonl", test = "test.jsonl";

  template <class V>
  void fields(V& v) {
    v("train", train, "file of the train part, inside data.path", not_empty);
    v("dev", dev, "file of the dev part", not_empty);
    v("test", test, "file of the test part", not_empty);
  }
};

namespace {

/// One line of a file.
struct Question {
  std::string context;
  std::vector<std::string> choices;
  int64_t right = 0;
};

/// Reads lines of one file; every message begins with file and line.
class QuestionReader {
 public:
  QuestionReader(const std::filesystem::path& file, int64_t line) : where_(fmt::format("{}:{}", file.string(), line)) {}

  [[noreturn]] void refuse(const std::string& problem) const { fail(ExitCode::run_failed, "{}: {}", where_, problem); }

  Question read(const std::string& line) const {
    const Json json = parse_json(line, where_);
    if (!json.is_object()) refuse("expected {\"context\": ..., \"choices\": [...], \"label\": ...}");
    Question question{.context = text(json, "context"), .choices = {}, .right = 0};
    if (trim_end(question.context).empty())
      refuse("the context is empty; a model needs a token to go on from: write some text");
    const Json choices = json.value("choices", Json());
    if (!choices.is_array() || choices.size() < 2) refuse("\"choices\" is not a list of two texts or more");
    for (const Json& choice : choices) {
      if (!choice.is_string() || choice.get<std::string>().empty())
        refuse(fmt::format("the choice {} is not a text with a character", dump_json(choice)));
      question.choices.push_back(choice.get<std::string>());
    }
    question.right = label(json, question.choices);
    return question;
  }

  /// Without white space at the end, as Python's rstrip() has it.
  static std::string_view trim_end(std::string_view text) {
    const std::vector<std::string_view> characters = utf8_characters(text);
    for (size_t i = characters.size(); i > 0; --i) {
      if (!is_space(characters[i - 1])) break;
      text.remove_suffix(characters[i - 1].size());
    }
    return text;
  }

 private:
  static bool is_space(std::string_view character) {
    static const std::vector<std::string> others = [] {
      std::vector<std::string> all = {"\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xA8",
                                      "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
      for (char last = '\x80'; last <= '\x8A'; ++last) all.push_back(std::string("\xE2\x80") + last);
      return all;
    }();
    if (character.size() > 1) return std::find(others.begin(), others.end(), character) != others.end();
    const char c = character.front();
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1C' && c <= '\x1F');
  }

  std::string text(const Json& json, const char* key) const {
    const Json value = json.value(key, Json());
    if (!value.is_string()) refuse(fmt::format("\"{}\" is not a text", key));
    return value.get<std::string>();
  }

  int64_t label(const Json& json, const std::vector<std::string>& choices) const {
    const Json value = json.value("label", Json());
    if (value.is_string()) {
      const auto found = std::find(choices.begin(), choices.end(), value.get<std::string>());
      if (found != choices.end()) return found - choices.begin();
    } else if (value.is_number_integer() && value >= 0 && value < std::ssize(choices)) {
      return value.get<int64_t>();
    }
    refuse(fmt::format("\"label\" is {}; expected the number of the right choice, from 0 to {}, or its text",
                       dump_json(value), choices.size() - 1));
  }

  std::string where_;
};

int64_t characters_in(std::string_view text) { return std::ssize(utf8_characters(text)); }

}  // namespace

class ChoiceSource : public DataSource {
 public:
  struct Options {
    std::filesystem::path path;
    ChoiceFiles files;
    std::string delimiter = " ";
    std::optional<int64_t> max_length;
    RoleOptions roles;

    template <class V>
    void fields(V& v) {
      v("path", path, "folder that holds the parts", required, existing_folder);
      v("files", files, "file names of the parts; roles may share one");
      v("delimiter", delimiter, "what stands between the context and a choice");
      v("max_length", max_length,
        "tokens that the model reads of a context with a choice; longer contexts lose their "
        "beginning; null: all",
        at_least(2));
      roles.fields(v);
    }
  };

  explicit ChoiceSource(Options options) : options_(std::move(options)) {}
  bool gives(DataKind kind) const override { return kind == DataKind::choices; }
  std::vector<InputFile> inputs() const override;
  Dataset load(const LoadInput& input) const override;

 private:
  std::filesystem::path file_of(Part part) const { return options_.path / part_of(options_.files, part); }
  std::vector<Example> read_part(Part part, const Tokenizer& tokenizer, Dataset& dataset) const;
  Choice encode(const QuestionReader& reader, const Question& question, size_t choice,
                const Tokenizer& tokenizer) const;

  Options options_;
};

std::vector<InputFile> ChoiceSource::inputs() const {
  std::vector<InputFile> files;
  for (const Part part : kParts) {
    if (!options_.roles.uses(part)) continue;
    if (!fs::is_regular_file(file_of(part)))
      fail(ExitCode::usage,
           "{}: there is no such file for the {} part; name it in data.files.{}, or choose other parts "
           "in data.splits",
           file_of(part).string(), enum_name(part), enum_name(part));
    files.push_back({fmt::format("data.{}", enum_name(part)), file_of(part)});
  }
  return files;
}

/// The tokens of the choice are those by which the context with the choice is longer than the context alone; white
/// space at the end of the context counts as the choice's beginning. As lm-evaluation-harness 0.4.9 does
/// (lm_eval/api/model.py, _encode_pair, and models/huggingface.py, _loglikelihood_tokens).
Choice ChoiceSource::encode(const QuestionReader& reader, const Question& question, size_t choice,
                            const Tokenizer& tokenizer) const {
  const std::string_view context = QuestionReader::trim_end(question.context);
  std::vector<int64_t> tokens = tokenizer.encode(context);
  const std::vector<int64_t> whole = tokenizer.encode(question.context + options_.delimiter + question.choices[choice]);
  if (tokens.empty()) reader.refuse("the tokenizer leaves nothing of the context");
  if (whole.size() <= tokens.size())
    reader.refuse(fmt::format("the choice \"{}\" adds no token to the context", question.choices[choice]));
  const auto added = whole.size() - tokens.size();
  tokens.insert(tokens.end(), whole.end() - static_cast<std::ptrdiff_t>(added), whole.end());
  if (options_.max_length) {
    const auto most = static_cast<size_t>(*options_.max_length) + 1;  // the last one is only predicted
    if (added >= most)
      reader.refuse(fmt::format("the choice \"{}\" has {} tokens, more than data.max_length {}; raise it",
                                question.choices[choice], added, *options_.max_length));
    if (tokens.size() > most) tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(most));
  }
  Choice encoded{.tokens = {tokens.begin(), tokens.end() - 1},
                 .targets = {tokens.begin() + 1, tokens.end()},
                 .characters = characters_in(question.choices[choice])};
  std::fill(encoded.targets.begin(), encoded.targets.end() - static_cast<std::ptrdiff_t>(added), kNoTarget);
  return encoded;
}

std::vector<Example> ChoiceSource::read_part(Part part, const Tokenizer& tokenizer, Dataset& dataset) const {
  const std::filesystem::path file = file_of(part);
  std::vector<Example> examples;
  int64_t line = 0, choices = 0, tokens = 0, unknown = 0;
  for (const std::string& text : read_text_lines(file)) {
    const QuestionReader reader(file, ++line);
    if (trim(text).empty()) reader.refuse("the line is empty; remove it");
    const Question question = reader.read(text);
    Example example;
    for (size_t i = 0; i < question.choices.size(); ++i)
      example.choices.push_back(encode(reader, question, i, tokenizer));
    example.right_choice = question.right;
    const Choice& right = example.choices[static_cast<size_t>(question.right)];
    example.tokens = right.tokens;
    example.targets = right.targets;
    choices += std::ssize(example.choices);
    tokens += std::ssize(right.tokens);
    unknown += std::count(right.tokens.begin(), right.tokens.end(), tokenizer.unknown());
    examples.push_back(std::move(example));
  }
  if (examples.empty()) fail(ExitCode::run_failed, "{}:1: no lines in the file", file.string());
  if (unknown > 0)
    warn(dataset, fmt::format("{} of {} tokens of the {} part are not in the vocabulary and count as one unknown token",
                              unknown, tokens, enum_name(part)));
  log_info("[data] {}: {} contexts with {} choices", enum_name(part), examples.size(), choices);
  return examples;
}

Dataset ChoiceSource::load(const LoadInput& input) const {
  if (!input.tokenizer)
    fail(ExitCode::usage, "data.type choices takes the tokenizer of a loaded model: set model.init: load");
  inputs();  // refuses missing files before any is read
  Dataset dataset;
  dataset.kind = input.kind;
  dataset.name = data_name(options_.path);
  dataset.tokenizer = input.tokenizer;
  PartExamples examples;
  for (const Part part : kParts)
    if (options_.roles.uses(part)) examples_of(examples, part) = read_part(part, *input.tokenizer, dataset);
  assign_roles(dataset, std::move(examples), options_.roles, input.seed);
  return dataset;
}

namespace {
const Register<DataSource, ChoiceSource> register_choices{"choices", "a context and the texts that may follow it"};
}  // namespace

}  // namespace headprune
