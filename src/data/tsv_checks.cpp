#include "data/tsv_checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "core/error.h"
#include "core/text.h"

namespace headprune {

namespace {

/// Fewer rows say nothing about what is rare or all alike.
constexpr size_t kFewRows = 20;
constexpr size_t kListed = 5;

/// What tools write for a value that is not there.
constexpr const char* kMissing[] = {"nan", "NaN", "None", "null", "NULL", "<NA>", "NA", "N/A", "#N/A", "?", "-1"};

const PartRows& train_of(const TsvLook& look) { return look.rows[static_cast<size_t>(Part::train)]; }

std::string quoted_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back("'" + word + "'");
  return join_some(quoted, ", ", kListed);
}

std::string file_of(const PartRows& rows) { return rows.file.filename().string(); }

/// The beginning of a text.
std::string sample_of(const std::string& text) {
  std::string begin;
  const std::vector<std::string_view> characters = utf8_characters(text);
  for (size_t i = 0; i < std::min<size_t>(40, characters.size()); ++i) begin += characters[i];
  return characters.size() > 40 ? begin + "..." : begin;
}

size_t median_size(const PartRows& rows, size_t column) {
  std::vector<size_t> sizes;
  for (const TsvRow& row : rows.rows) sizes.push_back(row.cells[column].size());
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle;
}

void warn_of_unused_columns(const PartRows& rows, Dataset& dataset) {
  constexpr size_t kShortText = 12;
  size_t longest_used = 0;
  for (const size_t column : rows.text_columns) longest_used = std::max(longest_used, median_size(rows, column));
  std::vector<std::string> unused;
  std::string longer;
  size_t longest = std::max(kShortText, 2 * longest_used);
  for (size_t column = 0; column < rows.rows.front().cells.size(); ++column) {
    const bool text = std::find(rows.text_columns.begin(), rows.text_columns.end(), column) != rows.text_columns.end();
    if (text || column == rows.label_column) continue;
    unused.push_back(rows.column_name(column));
    if (median_size(rows, column) < longest) continue;
    longest = median_size(rows, column);
    longer =
        fmt::format("; column {} has longer texts ('{}') than {} ('{}'): is data.text the right column?", unused.back(),
                    sample_of(rows.rows.front().cells[column]), rows.column_name(rows.text_columns.front()),
                    sample_of(rows.rows.front().cells[rows.text_columns.front()]));
  }
  if (unused.empty()) return;
  warn(dataset, fmt::format("{}: {} {} {} not used (data.text, data.label){}", file_of(rows),
                            unused.size() == 1 ? "column" : "columns", join_some(unused, ", ", kListed),
                            unused.size() == 1 ? "is" : "are", longer));
}

void warn_of_odd_texts(const PartRows& rows, Dataset& dataset) {
  if (rows.rows.size() < kFewRows) return;
  for (const size_t column : rows.text_columns) {
    std::unordered_set<std::string> different;
    bool numbers = true;
    for (const TsvRow& row : rows.rows) {
      different.insert(row.cells[column]);
      numbers = numbers && parse_number(trim(row.cells[column])).has_value();
    }
    if (numbers)
      warn(dataset, fmt::format("{}: every text in column {} is a number: is data.text the right column?",
                                file_of(rows), rows.column_name(column)));
    else if (different.size() * 10 < rows.rows.size())
      warn(dataset, fmt::format("{}: the {} rows have only {} different texts in column {}: is data.text the right "
                                "column?",
                                file_of(rows), rows.rows.size(), different.size(), rows.column_name(column)));
  }
}

void warn_of_quotes(const PartRows& rows, Dataset& dataset) {
  int64_t quoted = 0, doubled = 0, labels = 0;
  const TsvRow* example = nullptr;
  for (const TsvRow& row : rows.rows) {
    labels += looks_quoted(rows.label(row));
    for (const size_t column : rows.text_columns) {
      const std::string& cell = row.cells[column];
      if (!looks_quoted(cell)) continue;
      ++quoted;
      const bool inner = cell.find("\"\"", 1) < cell.size() - 2;
      if (inner && doubled++ == 0) example = &row;
    }
  }
  const auto cells = static_cast<int64_t>(rows.rows.size() * rows.text_columns.size());
  if (doubled == 0 && labels == 0 && (rows.rows.size() < kFewRows || 2 * quoted < cells)) return;
  warn(dataset, fmt::format("{}: {} of {} texts and {} labels stand in quotation marks{}, which count as part of them; "
                            "where a tool quoted the cells, set data.quoting: csv",
                            file_of(rows), quoted, cells, labels,
                            example ? fmt::format(", marks inside doubled (line {})", example->line) : ""));
}

/// How often each label is there, with the line of the first.
struct LabelCount {
  int64_t count = 0, line = 0;
};
using LabelCounts = std::map<std::string, LabelCount>;

LabelCounts count_labels(const PartRows& rows) {
  LabelCounts counts;
  for (const TsvRow& row : rows.rows) {
    LabelCount& one = counts[rows.label(row)];
    if (one.count++ == 0) one.line = row.line;
  }
  return counts;
}

/// The label of line 1 where it stands nowhere else; "" where that is nothing special.
std::string label_of_line_1(const PartRows& rows, const LabelCounts& counts) {
  if (!rows.header.empty() || rows.cut || counts.size() < 2) return "";
  const TsvRow& first = rows.rows.front();
  const std::string& label = rows.label(first);
  if (first.line != 1 || counts.at(label).count > 1) return "";
  const auto singles =
      std::count_if(counts.begin(), counts.end(), [](const auto& one) { return one.second.count == 1; });
  return singles == 1 || rows.rows.size() >= kFewRows ? label : "";
}

void warn_of_headers(const PartRows& rows, const LabelCounts& counts, Dataset& dataset) {
  if (const std::string label = label_of_line_1(rows, counts); !label.empty())
    warn(dataset, fmt::format("{}:1: the label '{}' stands on this line alone: if the line names the columns, set "
                              "data.header: true",
                              file_of(rows), label));
  if (rows.header.empty() || rows.cut) return;
  const std::string& name = rows.header[rows.label_column];
  const auto same = counts.find(name);
  if (same != counts.end() && same->second.count > 1)
    warn(dataset, fmt::format("{}:1: '{}', taken for the name of a column, is also a label: if the line is an example, "
                              "set data.header: false",
                              file_of(rows), name));
}

/// What spellings of one label have in common.
std::string common_key(const std::string& label) {
  const auto number = parse_number(trim(label));
  return number ? fmt::format("#{}", *number) : folded_label(label);
}

void warn_of_spellings(const LabelCounts& all, const LabelAnswer& labels, Dataset& dataset) {
  std::vector<std::string> edges, missing;
  std::map<std::string, std::vector<std::string>> twins;
  for (const auto& [label, count] : all) {
    if (trim(label) != label) edges.push_back(label);
    const bool two_signs = label == "-1" && all.size() == 2;  // with 1, say
    if (!two_signs && std::find(std::begin(kMissing), std::end(kMissing), label) != std::end(kMissing))
      missing.push_back(label);
    twins[common_key(label)].push_back(label);
  }
  if (!edges.empty())
    warn(dataset, fmt::format("labels with spaces at their ends: {}; correct the files if they are not meant",
                              quoted_list(edges)));
  for (const auto& [key, spellings] : twins) {
    if (spellings.size() < 2) continue;
    std::set<int64_t> outputs;
    for (const std::string& label : spellings)
      if (const auto at = labels.outputs.find(label); at != labels.outputs.end()) outputs.insert(at->second);
    const std::string end =
        outputs.size() == 1 ? std::string("count as one label, as the loaded model has it")
                            : fmt::format("count as {} labels; correct the files if they are one", spellings.size());
    warn(dataset, fmt::format("labels {} differ in case, spaces or digits alone and {}", quoted_list(spellings), end));
  }
  if (!missing.empty())
    warn(dataset, fmt::format("label {} is what some tools write for a missing one, and counts as a label of its own",
                              quoted_list(missing)));
}

void warn_of_rare_labels(const PartRows& rows, const LabelCounts& counts, Dataset& dataset) {
  const auto n = static_cast<int64_t>(rows.rows.size());
  if (rows.rows.size() < kFewRows) return;
  if (static_cast<int64_t>(counts.size()) * 4 > n) {
    warn(dataset, fmt::format("{}: {} labels for {} examples: is data.label the right column, or task regression "
                              "meant?",
                              file_of(rows), counts.size(), n));
    return;
  }
  std::vector<std::string> rare;
  for (const auto& [label, count] : counts)
    if ((count.count <= 2 || count.count * 1000 < n) && label != label_of_line_1(rows, counts))
      rare.push_back(fmt::format("'{}' ({}, first on line {})", label, count.count, count.line));
  if (!rare.empty())
    warn(dataset, fmt::format("{}: labels that hardly occur among its {} examples: {}", file_of(rows), n,
                              join_some(rare, ", ", kListed)));
}

void warn_of_labels(const TsvLook& look, Dataset& dataset) {
  LabelCounts all;
  for (const PartRows& rows : look.rows) {
    if (rows.rows.empty()) continue;
    const LabelCounts counts = count_labels(rows);
    warn_of_headers(rows, counts, dataset);
    for (const auto& [label, count] : counts) all[label].count += count.count;
  }
  warn_of_rare_labels(train_of(look), count_labels(train_of(look)), dataset);
  warn_of_spellings(all, look.labels, dataset);
  std::vector<std::string> absent;
  for (const std::string& label : look.labels.names)
    if (!all.contains(label)) absent.push_back(label);
  if (!absent.empty()) warn(dataset, fmt::format("no example has the label {}", quoted_list(absent)));
}

/// One negative number that comes again and again, among others that are none.
void warn_of_numbers(const PartRows& rows, Dataset& dataset) {
  std::map<std::string, int64_t> negative;
  for (const TsvRow& row : rows.rows)
    if (const auto number = parse_number(rows.label(row)); number && *number < 0)
      ++negative[fmt::format("{}", *number)];
  if (negative.size() != 1 || negative.begin()->second < 2) return;
  warn(dataset, fmt::format("{}: {} of {} examples have the number {}, and no other is below 0: does it stand for a "
                            "missing one?",
                            file_of(rows), negative.begin()->second, rows.rows.size(), negative.begin()->first));
}

/// Columns that are given by their number must be the same ones in every file.
void warn_of_other_columns(const PartRows& rows, const PartRows& first, Dataset& dataset) {
  const size_t here = rows.rows.front().cells.size(), there = first.rows.front().cells.size();
  std::vector<size_t> used = rows.text_columns, used_there = first.text_columns;
  used.push_back(rows.label_column);
  used_there.push_back(first.label_column);
  if (here != there)
    warn(dataset, fmt::format("{} has {} columns and {} has {}", file_of(rows), here, file_of(first), there));
  for (size_t i = 0; i < used.size(); ++i)
    if (rows.column_name(used[i]) != first.column_name(used_there[i]))
      warn(dataset,
           fmt::format("{} has {} where {} has {}: name the columns in data.text and data.label", file_of(rows),
                       rows.column_name(used[i]), file_of(first), first.column_name(used_there[i])));
}

}  // namespace

void require_different_labels(const PartRows& train, DataKind kind, const std::string& column) {
  const std::string& first = train.label(train.rows.front());
  if (std::any_of(train.rows.begin(), train.rows.end(), [&](const TsvRow& row) { return train.label(row) != first; }))
    return;
  const char* what = kind == DataKind::labelled ? "label" : "number";
  fail(
      ExitCode::run_failed,
      "{}: every {} in column '{}' is the same, '{}': nothing can be learnt or measured there; is data.label the right "
      "column?",
      train.file.string(), what, column, first);
}

void warn_of_rows(const TsvLook& look, Dataset& dataset) {
  const PartRows* first = nullptr;
  for (const PartRows& rows : look.rows) {
    if (rows.rows.empty() || rows.cut) continue;
    // One file of several is enough for what concerns columns.
    if (!first) warn_of_unused_columns(rows, dataset);
    if (!first) warn_of_odd_texts(rows, dataset);
    if (first) warn_of_other_columns(rows, *first, dataset);
    if (look.quoting == TsvQuoting::none) warn_of_quotes(rows, dataset);
    if (dataset.kind == DataKind::numbered) warn_of_numbers(rows, dataset);
    if (!first) first = &rows;
  }
  if (dataset.kind == DataKind::labelled) warn_of_labels(look, dataset);
}

}  // namespace headprune
