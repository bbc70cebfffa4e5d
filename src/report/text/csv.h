// CSV text as docs/formats.md section 8 has it: RFC 4180 quoting, '\n', an empty field where something does not apply.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headprune {

/// One field. Rows sort by their cells from the left: empty first, then numbers by value, then text by bytes.
class Cell {
 public:
  Cell() = default;                                   // does not apply
  Cell(const char* text) : text_(text) {}             // NOLINT: rows are written as lists of values
  Cell(std::string text) : text_(std::move(text)) {}  // NOLINT
  Cell(int64_t number);                               // NOLINT
  /// Shortest digits that round-trip; "nan", "inf" and "-inf" for non-finite values.
  Cell(double number);  // NOLINT
  template <class T>
  Cell(const std::optional<T>& value) : Cell(value ? Cell(*value) : Cell()) {}  // NOLINT

  const std::string& text() const { return text_; }
  bool operator<(const Cell& other) const;

 private:
  std::string text_;
  std::optional<double> number_;
};

using CsvRow = std::vector<Cell>;

/// The header and the sorted rows. Every row has as many cells as the header.
std::string csv_text(const std::vector<std::string>& header, std::vector<CsvRow> rows);

}  // namespace headprune
