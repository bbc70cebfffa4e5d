#include "data/tsv_table.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/text.h"
#include "data/text_lines.h"

namespace headprune {

TsvTable read_tsv(const std::filesystem::path& path, bool header) {
  std::vector<std::string> lines = read_text_lines(path);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();

  TsvTable table;
  int64_t line = 0;
  size_t columns = 0;
  for (const std::string& content : lines) {
    ++line;
    const std::string place = fmt::format("{}:{}", path.string(), line);
    if (content.empty()) fail(ExitCode::run_failed, "{}: empty line; remove it", place);
    const std::vector<std::string_view> cells = split(content, '\t');
    if (line == 1) columns = cells.size();
    if (cells.size() != columns)
      fail(ExitCode::run_failed, "{}: {} columns where the first line has {}; columns are separated by single tabs",
           place, cells.size(), columns);
    if (header && line == 1)
      table.header.assign(cells.begin(), cells.end());
    else
      table.rows.push_back({.line = line, .cells = {cells.begin(), cells.end()}});
  }
  if (table.rows.empty()) fail(ExitCode::run_failed, "{}:{}: no examples in the file", path.string(), line + 1);
  return table;
}

size_t find_column(const TsvTable& table, const std::string& column, const std::string& where) {
  const auto named = std::find(table.header.begin(), table.header.end(), column);
  if (named != table.header.end()) return static_cast<size_t>(named - table.header.begin());
  const size_t columns = table.rows.front().cells.size();
  size_t index = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), index);
  const bool number = error == std::errc() && end == column.data() + column.size();
  if (number && index < columns) return index;
  if (number)
    fail(ExitCode::run_failed, "{}:1: no column {}; the {} columns are numbered from 0", where, index, columns);
  if (table.header.empty())
    fail(ExitCode::run_failed, "{}:1: no column '{}'; set data.header: true, or give the column's number from 0", where,
         column);
  fail(ExitCode::run_failed, "{}:1: no column '{}'; the header has: {}", where, column, join(table.header, ", "));
}

}  // namespace headprune
