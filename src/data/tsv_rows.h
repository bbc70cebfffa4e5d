// Rows of one part of tab-separated data, and the file they stand in.
#pragma once

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "data/splits.h"
#include "data/tsv_table.h"

namespace headprune {

struct PartRows {
  std::filesystem::path file;
  std::vector<std::string> header;  // empty without one
  std::vector<TsvRow> rows;
  std::vector<size_t> text_columns;
  size_t label_column = 0;
  bool cut = false;  // from another part: its file was looked at as that part's

  std::string place(const TsvRow& row) const { return fmt::format("{}:{}", file.string(), row.line); }
  const std::string& label(const TsvRow& row) const { return row.cells[label_column]; }
  /// As a person calls a column: 'label', or its number.
  std::string column_name(size_t column) const {
    return header.empty() ? fmt::format("{}", column) : fmt::format("'{}'", header[column]);
  }
};
using AllRows = std::array<PartRows, kParts.size()>;  // indexed by Part

}  // namespace headprune
