// Strict reading of tab-separated text (docs/formats.md section 4): split at TAB alone, no escapes; quotation marks are
// data, or quote whole cells as RFC 4180 has it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/value.h"

namespace headprune {

/// What quotation marks mean.
enum class TsvQuoting { none, csv };
template <>
struct EnumNames<TsvQuoting> {
  static constexpr std::pair<const char*, TsvQuoting> names[] = {{"none", TsvQuoting::none}, {"csv", TsvQuoting::csv}};
};

struct TsvForm {
  bool header = false;
  TsvQuoting quoting = TsvQuoting::none;
};

struct TsvRow {
  int64_t line = 0;  // from 1; of a row with line ends in its cells, the first
  std::vector<std::string> cells;
};

struct TsvTable {
  std::vector<std::string> header;  // empty without one
  std::vector<TsvRow> rows;         // all with as many cells as the first line
};

/// CRLF line ends, a byte order mark, a last line without its end and empty lines at the end are accepted. With
/// TsvQuoting::csv a cell that begins with a quotation mark ends at the next single one and may hold tabs and line
/// ends; two marks inside it are one, and cells that are not quoted have none. Throws Error(usage) for a file that
/// cannot be read and Error(run_failed) "file:line: ..." for invalid UTF-8, an empty line elsewhere, a row whose column
/// count differs from the first line's, quotation marks against those rules, two columns of one name, and a file
/// without rows.
TsvTable read_tsv(const std::filesystem::path& path, const TsvForm& form);

/// Index of a column given by name (with a header) or by number from 0. Throws Error(run_failed) naming what there is,
/// also where the word is the name of one column and the number of another.
size_t find_column(const TsvTable& table, const std::string& column, const std::string& where);

/// Whether a cell looks as writers of CSV quote one: a mark at both ends, those in between in pairs.
bool looks_quoted(std::string_view cell);

}  // namespace headprune
