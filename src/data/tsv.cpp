// `tsv`: texts with a label or a number, one example a line (docs/formats.md section 4).
#include <utf8proc.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/text.h"
#include "data/sequence.h"
#include "data/source.h"
#include "data/splits.h"
#include "data/tsv_checks.h"
#include "data/tsv_rows.h"
#include "data/vocabulary.h"

namespace headprune {

struct TsvFiles {
  std::string train = "train.tsv", dev = "dev.tsv", test = "test.tsv";

  template <class V>
  void fields(V& v) {
    v("train", train, "file of the train part, inside data.path", not_empty);
    v("dev", dev, "file of the dev part", not_empty);
    v("test", test, "file of the test part", not_empty);
  }
};

struct TsvCut {
  Part from = Part::train;
  double fraction = 0.1;

  template <class V>
  void fields(V& v) {
    v("from", from, "part that gives up examples");
    v("fraction", fraction, "fraction of its examples, as it is in its file", above(0), below(1));
  }
};

struct TsvCuts {
  std::optional<TsvCut> train, dev, test;

  template <class V>
  void fields(V& v) {
    v("train", train, "cut the train part from another");
    v("dev", dev, "cut the dev part from another");
    v("test", test, "cut the test part from another");
  }
};

namespace {

/// Unicode simple lower-casing, code point by code point.
std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (const std::string_view character : utf8_characters(text)) {
    utf8proc_int32_t code = 0;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()),
                     static_cast<utf8proc_ssize_t>(character.size()), &code);
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t count = utf8proc_encode_char(utf8proc_tolower(code), bytes);
    lower.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
  }
  return lower;
}

}  // namespace

class TsvSource : public DataSource {
 public:
  struct Options {
    std::filesystem::path path;
    TsvFiles files;
    TsvCuts cut;
    bool header = false;
    TsvQuoting quoting = TsvQuoting::none;
    std::vector<std::string> text = {"0"};
    std::string label = "1";
    std::vector<std::string> labels;
    std::optional<TokenUnit> unit;
    int64_t vocabulary_size = 20000;
    bool lower_case = false;
    std::optional<int64_t> max_length;
    RoleOptions roles;

    template <class V>
    void fields(V& v) {
      v("path", path, "folder that holds the parts, or one file that is the train part", required, existing_path);
      v("files", files, "file names of the parts");
      v("cut", cut, "make a part that has no file from a seeded sample of another part's examples");
      v("header", header, "whether the first line of each file names the columns");
      v("quoting", quoting,
        "what quotation marks mean: none, they are part of the text; csv, cells may stand in them (RFC 4180), as "
        "pandas "
        "and spreadsheets write them");
      v("text", text, "one or two text columns, by name or by number from 0; two are joined by a separator token",
        [](const std::vector<std::string>& columns) {
          return columns.size() == 1 || columns.size() == 2 ? std::string() : "expected one or two columns";
        });
      v("label", label,
        "column of what is to be predicted, a label or (task regression) a number, by name or by number from 0",
        not_empty);
      v("labels", labels,
        "all labels, in the order of the model's outputs; empty: those of the train part, sorted, or of a loaded "
        "classifier, paired by name (the same; or but for case and spaces at its ends) or by number");
      v("unit", unit,
        "what a token is: word (split at white space), character or byte; absent: word, or what a loaded model brings");
      v("vocabulary_size", vocabulary_size,
        "at most this many tokens, the most frequent of the train part; of bytes 260", at_least(5));
      v("lower_case", lower_case, "lower-case the texts");
      v("max_length", max_length, "cut sequences at this many tokens, special tokens included; null: never",
        at_least(4));
      roles.fields(v);
    }
    CrossProblems problems() const;
  };

  explicit TsvSource(Options options) : options_(std::move(options)) {}
  bool gives(DataKind kind) const override { return kind == DataKind::labelled || kind == DataKind::numbered; }
  std::vector<InputFile> inputs() const override;
  Dataset load(const LoadInput& input) const override;

 private:
  std::filesystem::path file_of(Part part) const;
  bool has_file(Part part) const;
  bool needed(Part part) const;
  PartRows read_part(Part part) const;
  void cut_part(Part part, AllRows& all, uint64_t seed, Dataset& dataset) const;
  LabelAnswer settle(const AllRows& rows, const LoadInput& input) const;
  std::shared_ptr<const Tokenizer> tokenizer(const PartRows& train, const LoadInput& input) const;
  std::vector<Example> encode(Part part, const PartRows& rows, const LabelAnswer& labels, Dataset& dataset) const;
  void add_labels(std::vector<Example>& examples, const PartRows& rows, const LabelAnswer& labels) const;
  void add_numbers(std::vector<Example>& examples, const PartRows& rows) const;
  std::string text_of(const TsvRow& row, size_t column) const {
    return options_.lower_case ? headprune::lower_case(row.cells[column]) : row.cells[column];
  }

  Options options_;
};

CrossProblems TsvSource::Options::problems() const {
  CrossProblems found;
  for (const Part part : kParts) {
    const auto& one = part_of(cut, part);
    if (!one) continue;
    const std::string key = fmt::format("cut.{}.from", enum_name(part));
    if (one->from == part)
      found.emplace_back(key, "a part cannot be cut from itself");
    else if (part_of(cut, one->from))
      found.emplace_back(key,
                         fmt::format("the {} part is cut itself; name a part that has a file", enum_name(one->from)));
  }
  for (const Part from : kParts) {
    double sum = 0;
    for (const Part part : kParts)
      if (const auto& one = part_of(cut, part); one && one->from == from) sum += one->fraction;
    if (sum >= 1)
      found.emplace_back("cut",
                         fmt::format("the cuts leave nothing of the {} part; lower the fractions", enum_name(from)));
  }
  const std::set<std::string> distinct(labels.begin(), labels.end());
  if (distinct.size() != labels.size()) found.emplace_back("labels", "a label is listed twice");
  if (labels.size() == 1) found.emplace_back("labels", "expected at least two labels");
  return found;
}

std::filesystem::path TsvSource::file_of(Part part) const {
  if (!fs::is_directory(options_.path)) return part == Part::train ? options_.path : fs::path();
  return options_.path / part_of(options_.files, part);
}

bool TsvSource::has_file(Part part) const {
  const std::filesystem::path file = file_of(part);
  return !file.empty() && fs::exists(file);
}

/// Read by a role, or by a part that is cut from it.
bool TsvSource::needed(Part part) const {
  if (options_.roles.uses(part)) return true;
  return std::any_of(kParts.begin(), kParts.end(), [&](Part other) {
    const auto& cut = part_of(options_.cut, other);
    return cut && cut->from == part && options_.roles.uses(other);
  });
}

std::vector<InputFile> TsvSource::inputs() const {
  std::vector<InputFile> files;
  for (const Part part : kParts) {
    if (!needed(part)) continue;
    const char* name = enum_name(part);
    const bool cut = part_of(options_.cut, part).has_value();
    if (has_file(part) && cut)
      fail(ExitCode::usage, "data.cut.{} would replace the file {}; remove the cut, or name another data.files.{}",
           name, file_of(part).string(), name);
    if (has_file(part))
      files.push_back({fmt::format("data.{}", name), file_of(part)});
    else if (!cut)
      fail(ExitCode::usage,
           "{}: there is no file for the {} part; name it in data.files.{}, cut it from another part (data.cut.{}: "
           "{{from: train, fraction: 0.1}}), or choose other parts in data.splits",
           file_of(part).empty() ? options_.path.string() : file_of(part).string(), name, name, name);
  }
  return files;
}

PartRows TsvSource::read_part(Part part) const {
  PartRows part_rows;
  part_rows.file = file_of(part);
  TsvTable table = read_tsv(part_rows.file, {.header = options_.header, .quoting = options_.quoting});
  for (const std::string& column : options_.text)
    part_rows.text_columns.push_back(find_column(table, column, part_rows.file.string()));
  part_rows.label_column = find_column(table, options_.label, part_rows.file.string());
  if (std::count(part_rows.text_columns.begin(), part_rows.text_columns.end(), part_rows.label_column) > 0)
    fail(ExitCode::usage, "{}: data.label is column '{}', which data.text reads too: the label would stand in the text",
         part_rows.file.string(), options_.label);
  part_rows.header = std::move(table.header);
  part_rows.rows = std::move(table.rows);
  for (const TsvRow& row : part_rows.rows)
    if (trim(part_rows.label(row)).empty())
      fail(ExitCode::run_failed, "{}: empty label in column '{}'", part_rows.place(row), options_.label);
  return part_rows;
}

void TsvSource::cut_part(Part part, AllRows& all, uint64_t seed, Dataset& dataset) const {
  const TsvCut& cut = *part_of(options_.cut, part);
  PartRows& from = all[static_cast<size_t>(cut.from)];
  PartRows& to = all[static_cast<size_t>(part)];
  // Fractions are of the file: a second cut from the same part counts what the first one took.
  auto original = static_cast<int64_t>(from.rows.size());
  for (const Part before : kParts)
    if (const auto& one = part_of(options_.cut, before); before < part && one && one->from == cut.from)
      original += static_cast<int64_t>(all[static_cast<size_t>(before)].rows.size());
  const auto count = static_cast<int64_t>(cut.fraction * static_cast<double>(original) + 0.5);
  const std::string stream = fmt::format("data/cut/{}", enum_name(part));
  const std::vector<int64_t> taken = seeded_sample(static_cast<int64_t>(from.rows.size()), count, seed, stream);

  to.file = from.file;
  to.header = from.header;
  to.cut = true;
  to.text_columns = from.text_columns;
  to.label_column = from.label_column;
  std::vector<TsvRow> kept;
  size_t next = 0;
  for (size_t i = 0; i < from.rows.size(); ++i) {
    const bool moves = next < taken.size() && static_cast<size_t>(taken[next]) == i;
    if (moves) ++next;
    (moves ? to.rows : kept).push_back(std::move(from.rows[i]));
  }
  from.rows = std::move(kept);
  std::string& note = dataset.part_notes[enum_name(part)];
  note = fmt::format(
      "the {} part is cut from the {} part: {} of its {} examples, drawn without replacement "
      "(stream {} of the experiment's seed {}); the {} part keeps the others",
      enum_name(part), enum_name(cut.from), taken.size(), original, stream, seed, enum_name(cut.from));
  warn(dataset, note);
}

LabelAnswer TsvSource::settle(const AllRows& rows, const LoadInput& input) const {
  std::set<std::string> trained, found;
  for (const Part part : kParts)
    for (const TsvRow& row : rows[static_cast<size_t>(part)].rows) {
      const std::string& label = rows[static_cast<size_t>(part)].label(row);
      found.insert(label);
      if (part == Part::train) trained.insert(label);
    }
  return settle_labels({.trained = {trained.begin(), trained.end()},
                        .found = {found.begin(), found.end()},
                        .listed = options_.labels,
                        .trains = input.trains,
                        .model = input.model});
}

void TsvSource::add_labels(std::vector<Example>& examples, const PartRows& rows, const LabelAnswer& labels) const {
  for (size_t i = 0; i < examples.size(); ++i) {
    const std::string& label = rows.label(rows.rows[i]);
    const auto output = labels.outputs.find(label);
    if (output == labels.outputs.end())
      fail(ExitCode::run_failed, "{}: unknown label '{}'; {} {}", rows.place(rows.rows[i]), label,
           options_.labels.empty() ? "the train part has" : "data.labels has", join_some(labels.names, ", ", 20));
    examples[i].label = output->second;
  }
}

void TsvSource::add_numbers(std::vector<Example>& examples, const PartRows& rows) const {
  for (size_t i = 0; i < examples.size(); ++i) {
    const std::string& text = rows.label(rows.rows[i]);
    examples[i].number = parse_number(text);
    if (!examples[i].number)
      fail(ExitCode::run_failed,
           "{}: '{}' in column '{}' is not a number, which task regression needs; is data.label "
           "the right column?{}",
           rows.place(rows.rows[i]), text, options_.label,
           rows.rows[i].line == 1 ? " If the line names the columns, set data.header: true" : "");
  }
}

std::shared_ptr<const Tokenizer> TsvSource::tokenizer(const PartRows& train, const LoadInput& input) const {
  if (input.tokenizer) {
    if (options_.unit) require_unit(*input.tokenizer, *options_.unit);
    return input.tokenizer;
  }
  const TokenUnit unit = options_.unit.value_or(TokenUnit::word);
  std::unordered_map<std::string, int64_t> counts;
  if (unit != TokenUnit::byte)
    for (const TsvRow& row : train.rows)
      for (const size_t column : train.text_columns) {
        const std::string text = text_of(row, column);  // outlives its units
        for (const std::string_view token : split_units(unit, text)) ++counts[std::string(token)];
      }
  return std::make_shared<const Vocabulary>(Vocabulary::build(unit, counts, options_.vocabulary_size));
}

std::vector<Example> TsvSource::encode(Part part, const PartRows& rows, const LabelAnswer& labels,
                                       Dataset& dataset) const {
  const Tokenizer& tokenizer = *dataset.tokenizer;
  const SequenceForm form = tokenizer.form(rows.text_columns.size());
  std::vector<Example> examples;
  int64_t truncated = 0, empty = 0, unknown = 0, tokens = 0;
  for (const TsvRow& row : rows.rows) {
    TextIds texts;
    for (const size_t column : rows.text_columns) {
      texts.push_back(tokenizer.encode(text_of(row, column)));
      unknown += std::count(texts.back().begin(), texts.back().end(), tokenizer.unknown());
      tokens += static_cast<int64_t>(texts.back().size());
      empty += texts.back().empty();
    }
    if (options_.max_length && sequence_length(texts, form) > *options_.max_length) {
      ++truncated;
      cut_texts(texts, form, *options_.max_length);
    }
    examples.push_back(assemble(texts, form));
  }
  if (dataset.kind == DataKind::numbered)
    add_numbers(examples, rows);
  else
    add_labels(examples, rows, labels);
  if (truncated > 0)
    warn(dataset, fmt::format("{} of {} {} examples are longer than data.max_length {} and were cut at their end",
                              truncated, examples.size(), enum_name(part), *options_.max_length));
  if (empty > 0) warn(dataset, fmt::format("{} texts of the {} part are empty", empty, enum_name(part)));
  log_info("[data] {}: {} examples, {} tokens, {:.1f} % of them unknown", enum_name(part), examples.size(), tokens,
           tokens > 0 ? 100.0 * static_cast<double>(unknown) / static_cast<double>(tokens) : 0.0);
  return examples;
}

Dataset TsvSource::load(const LoadInput& input) const {
  Dataset dataset;
  dataset.kind = input.kind;
  if (dataset.kind == DataKind::numbered && !options_.labels.empty())
    fail(ExitCode::usage, "data.labels is for classification; a number is to be predicted here: leave it out");
  dataset.name = data_name(options_.path);
  AllRows rows;
  inputs();  // refuses missing files before any is read
  for (const Part part : kParts)
    if (needed(part) && has_file(part)) rows[static_cast<size_t>(part)] = read_part(part);
  for (const Part part : kParts) {
    if (!part_of(options_.cut, part)) continue;
    if (needed(part))
      cut_part(part, rows, input.seed, dataset);
    else
      warn(dataset, fmt::format("data.cut.{} has no effect: no role reads the {} part (data.splits)", enum_name(part),
                                enum_name(part)));
  }

  const PartRows& train = rows[static_cast<size_t>(Part::train)];
  require_different_labels(train, dataset.kind, options_.label);
  LabelAnswer labels;
  if (dataset.kind == DataKind::labelled) {
    labels = settle(rows, input);
    dataset.labels = labels.names;
    dataset.label_notes = labels.notes;
    if (!labels.warning.empty()) warn(dataset, labels.warning);
  }
  warn_of_rows({.rows = rows, .quoting = options_.quoting, .labels = labels}, dataset);
  dataset.tokenizer = tokenizer(train, input);
  PartExamples examples;
  for (const Part part : kParts)
    if (options_.roles.uses(part))
      examples_of(examples, part) = encode(part, rows[static_cast<size_t>(part)], labels, dataset);
  assign_roles(dataset, std::move(examples), options_.roles, input.seed);
  return dataset;
}

namespace {
const Register<DataSource, TsvSource> register_tsv{
    "tsv", "texts with a label or a number in tab-separated files, one example a line"};
}  // namespace

}  // namespace headprune
