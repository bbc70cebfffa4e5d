#include "data/tsv_table.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/text.h"
#include "data/text_lines.h"

namespace headprune {

namespace {

constexpr char kQuote = '"';

/// Rows out of lines, each a list of cells with the line on which it begins.
class RowReader {
 public:
  RowReader(const std::filesystem::path& path, TsvQuoting quoting)
      : path_(path), quoting_(quoting), lines_(read_text_lines(path)) {
    while (!lines_.empty() && lines_.back().empty()) lines_.pop_back();
  }

  bool more() const { return next_ < lines_.size(); }
  TsvRow take() {
    TsvRow row{.line = static_cast<int64_t>(next_) + 1, .cells = {}};
    if (lines_[next_].empty()) fail(ExitCode::run_failed, "{}: empty line; remove it", place(row.line));
    if (quoting_ == TsvQuoting::none) {
      for (const std::string_view cell : split(lines_[next_], '\t')) row.cells.emplace_back(cell);
      ++next_;
    } else {
      take_quoted(row);
    }
    return row;
  }

  std::string place(int64_t line) const { return fmt::format("{}:{}", path_.string(), line); }
  int64_t lines() const { return static_cast<int64_t>(lines_.size()); }

 private:
  void take_quoted(TsvRow& row) {
    for (size_t at = 0;;) {
      const std::string& line = lines_[next_];
      if (at < line.size() && line[at] == kQuote) {
        at = take_quoted_cell(row, at + 1);
      } else {
        const size_t end = std::min(line.find('\t', at), line.size());
        row.cells.push_back(line.substr(at, end - at));
        if (row.cells.back().find(kQuote) != std::string::npos)
          fail(ExitCode::run_failed,
               "{}: a quotation mark inside a cell that does not begin with one; with data.quoting: csv such cells are "
               "quoted and the mark is doubled: write the file so, or set data.quoting: none",
               place(row.line));
        at = end;
      }
      if (at >= lines_[next_].size()) break;
      ++at;  // the tab
    }
    ++next_;
  }

  /// Behind its opening mark; returns where the cell has ended, at a tab or the end of the line.
  size_t take_quoted_cell(TsvRow& row, size_t at) {
    const int64_t first = static_cast<int64_t>(next_) + 1;
    std::string cell;
    for (;;) {
      const std::string& line = lines_[next_];
      const size_t mark = line.find(kQuote, at);
      cell += line.substr(at, mark == std::string::npos ? mark : mark - at);
      if (mark == std::string::npos) {
        if (next_ + 1 == lines_.size())
          fail(ExitCode::run_failed,
               "{}: the quotation mark that begins a cell is never closed; close it, or set data.quoting: none",
               place(first));
        cell += '\n';
        ++next_;
        at = 0;
        continue;
      }
      at = mark + 1;
      if (at < line.size() && line[at] == kQuote) {
        cell += kQuote;
        ++at;
        continue;
      }
      if (at < line.size() && line[at] != '\t')
        fail(ExitCode::run_failed,
             "{}: text follows the quotation mark that ends a cell; with data.quoting: csv marks inside a cell are "
             "doubled: write the file so, or set data.quoting: none",
             place(static_cast<int64_t>(next_) + 1));
      row.cells.push_back(std::move(cell));
      return at;
    }
  }

  std::filesystem::path path_;
  TsvQuoting quoting_;
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

void refuse_repeated_names(const std::vector<std::string>& header, const std::string& place) {
  for (size_t i = 0; i < header.size(); ++i)
    for (size_t j = i + 1; j < header.size(); ++j)
      if (header[i] == header[j])
        fail(ExitCode::run_failed, "{}: columns {} and {} have one name, '{}'; rename one of them", place, i, j,
             header[i]);
}

/// What a row with another number of columns may come from.
std::string columns_hint(const TsvRow& row, TsvQuoting quoting) {
  const bool open =
      quoting == TsvQuoting::none && std::any_of(row.cells.begin(), row.cells.end(), [](const std::string& cell) {
        return cell.starts_with(kQuote) && !looks_quoted(cell);
      });
  return open ? ", or stand in quoted cells where data.quoting: csv is set" : "";
}

}  // namespace

bool looks_quoted(std::string_view cell) {
  if (cell.size() < 2 || cell.front() != kQuote || cell.back() != kQuote) return false;
  cell.remove_prefix(1);
  cell.remove_suffix(1);
  for (size_t at = cell.find(kQuote); at != std::string_view::npos; at = cell.find(kQuote, at + 2))
    if (at + 1 >= cell.size() || cell[at + 1] != kQuote) return false;
  return true;
}

TsvTable read_tsv(const std::filesystem::path& path, const TsvForm& form) {
  RowReader reader(path, form.quoting);
  TsvTable table;
  size_t columns = 0;
  for (bool first = true; reader.more(); first = false) {
    TsvRow row = reader.take();
    if (first) columns = row.cells.size();
    if (row.cells.size() != columns)
      fail(ExitCode::run_failed, "{}: {} columns where the first line has {}; columns are separated by single tabs{}",
           reader.place(row.line), row.cells.size(), columns, columns_hint(row, form.quoting));
    if (form.header && first) {
      table.header = std::move(row.cells);
      refuse_repeated_names(table.header, reader.place(row.line));
    } else {
      table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.empty()) fail(ExitCode::run_failed, "{}: no examples in the file", reader.place(reader.lines() + 1));
  return table;
}

size_t find_column(const TsvTable& table, const std::string& column, const std::string& where) {
  const auto named = std::find(table.header.begin(), table.header.end(), column);
  const size_t columns = table.rows.front().cells.size();
  size_t index = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), index);
  const bool number = error == std::errc() && end == column.data() + column.size();
  if (named != table.header.end()) {
    const auto at = static_cast<size_t>(named - table.header.begin());
    if (number && index < columns && index != at)
      fail(ExitCode::run_failed, "{}:1: '{}' is the name of column {} and the number of another; rename it", where,
           column, at);
    return at;
  }
  if (number && index < columns) return index;
  if (number)
    fail(ExitCode::run_failed, "{}:1: no column {}; the {} columns are numbered from 0", where, index, columns);
  if (table.header.empty())
    fail(ExitCode::run_failed, "{}:1: no column '{}'; set data.header: true, or give the column's number from 0", where,
         column);
  const bool quoted = std::any_of(table.header.begin(), table.header.end(), looks_quoted);
  fail(ExitCode::run_failed, "{}:1: no column '{}'; the header has: {}{}", where, column, join(table.header, ", "),
       quoted ? "; for cells in quotation marks set data.quoting: csv" : "");
}

}  // namespace headprune
