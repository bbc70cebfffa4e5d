// Strict reading of tab-separated text (formats.md section 4): split at TAB alone, no quoting, no escapes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headprune {

struct TsvRow {
  int64_t line = 0;  // from 1
  std::vector<std::string> cells;
};

struct TsvTable {
  std::vector<std::string> header;  // empty without one
  std::vector<TsvRow> rows;         // all with as many cells as the first line
};

/// CRLF line ends, a byte order mark, a last line without its end and empty lines at the end are accepted. Throws
/// Error(usage) for a file that cannot be read and Error(run_failed) "file:line: ..." for invalid UTF-8, an empty line
/// elsewhere, a row whose column count differs from the first line's, and a file without rows.
TsvTable read_tsv(const std::filesystem::path& path, bool header);

/// Index of a column given by name (with a header) or by number from 0. Throws Error(run_failed) naming what there is.
size_t find_column(const TsvTable& table, const std::string& column, const std::string& where);

}  // namespace headprune
