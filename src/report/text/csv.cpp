#include "report/text/csv.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/json.h"

namespace headprune {
namespace {

std::string double_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return number_text(value);
}

void append_quoted(std::string& out, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

Cell::Cell(int64_t number) : text_(std::to_string(number)), number_(static_cast<double>(number)) {}
Cell::Cell(double number) : text_(double_text(number)) {
  if (!std::isnan(number)) number_ = number;  // NaN has no place in an order; it sorts as text
}

bool Cell::operator<(const Cell& other) const {
  const int rank = text_.empty() ? 0 : number_ ? 1 : 2;
  const int other_rank = other.text_.empty() ? 0 : other.number_ ? 1 : 2;
  if (rank != other_rank) return rank < other_rank;
  if (rank == 1 && *number_ != *other.number_) return *number_ < *other.number_;
  return rank == 2 && text_ < other.text_;
}

std::string csv_text(const std::vector<std::string>& header, std::vector<CsvRow> rows) {
  for (const CsvRow& row : rows) {
    if (row.size() != header.size()) throw std::logic_error("csv_text: a row is not as wide as its header");
  }
  std::stable_sort(rows.begin(), rows.end());
  std::string out;
  for (size_t i = 0; i < header.size(); ++i) {
    if (i > 0) out += ',';
    append_quoted(out, header[i]);
  }
  out += '\n';
  for (const CsvRow& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      append_quoted(out, row[i].text());
    }
    out += '\n';
  }
  return out;
}

}  // namespace headprune
