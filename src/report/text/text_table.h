// Tables and numbers for a terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stats/estimate.h"

namespace headprune {

/// Rows of cells; the first row is the header. All rows have the same number of cells.
using TextRows = std::vector<std::vector<std::string>>;

struct TableLayout {
  size_t width = 80;  // columns of the terminal
  size_t indent = 2;
  size_t repeat_left = 1;  // columns that every part of a table too wide repeats, at its left and right
  size_t repeat_right = 0;
  size_t align_left = 1;  // so many columns from the left are aligned left, the others right
};

/// Columns two spaces apart. A table wider than the terminal is printed in parts, one below the other.
std::string text_table(const TextRows& rows, const TableLayout& layout);

/// 0.7814 -> "0.781": three decimals below 100, fewer above, "1.3e-05" where those would be zeros; "nan", "inf".
std::string value_text(double value);
/// The same with a sign; what rounds to zero has none: "+0.012", "0.000".
std::string change_text(double value);
/// "0.781 [0.762, 0.800]"; the value alone where there is no interval.
std::string interval_text(double value, double low, double high);
/// " [-0.012, +0.003]" of a difference; empty without an interval.
std::string change_interval_text(const Difference& difference);
/// "0.012", "< 0.001"
std::string p_text(double p);
/// "1 head", "2 heads"
std::string count_text(int64_t n, const std::string& noun);
/// Breaks text at spaces; every line begins with `indent` spaces, later ones with two more.
std::string wrapped(const std::string& text, size_t width, size_t indent);
/// What is around `text` with colour: an ANSI code such as "1" (bold); the text alone without.
std::string coloured(const std::string& text, const char* code, bool colour);
constexpr const char* kBold = "1";

}  // namespace headprune
