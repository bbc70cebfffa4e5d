#include "report/text/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/text.h"

namespace headprune {
namespace {

constexpr size_t kGap = 2;

void append_padded(std::string& line, const std::string& text, size_t width, bool left) {
  const size_t used = display_width(text);
  const std::string padding(width > used ? width - used : 0, ' ');
  line += left ? text + padding : padding + text;
}

/// One part of the table: these columns.
void append_part(std::string& out, const TextRows& rows, const std::vector<size_t>& columns,
                 const std::vector<size_t>& widths, const TableLayout& layout) {
  for (const std::vector<std::string>& row : rows) {
    std::string line(layout.indent, ' ');
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      append_padded(line, row[columns[i]], widths[columns[i]], columns[i] < layout.align_left);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

}  // namespace

std::string text_table(const TextRows& rows, const TableLayout& layout) {
  const size_t count = rows.front().size();
  std::vector<size_t> widths(count, 0);
  for (const std::vector<std::string>& row : rows) {
    if (row.size() != count) throw std::logic_error("text_table: rows differ in their number of cells");
    for (size_t i = 0; i < count; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  const size_t last = count - layout.repeat_right;
  size_t fixed = layout.indent;
  for (size_t i = 0; i < count; ++i) {
    if (i < layout.repeat_left || i >= last) fixed += widths[i] + kGap;
  }
  std::string out;
  size_t next = layout.repeat_left;
  do {
    std::vector<size_t> columns;
    for (size_t i = 0; i < layout.repeat_left; ++i) columns.push_back(i);
    size_t used = fixed;
    const size_t begin = next;
    while (next < last && (next == begin || used + widths[next] <= layout.width)) {
      used += widths[next] + kGap;
      columns.push_back(next++);
    }
    for (size_t i = last; i < count; ++i) columns.push_back(i);
    if (!out.empty()) out += '\n';
    append_part(out, rows, columns, widths, layout);
  } while (next < last);
  return out;
}

std::string value_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  if (value == 0) return "0.000";  // and not "-0.000"
  if (size < 0.0005) return fmt::format("{:.1e}", value);
  if (size < 100) return fmt::format("{:.3f}", value);
  if (size < 10000) return fmt::format("{:.1f}", value);
  return fmt::format("{:.4g}", value);
}

std::string change_text(double value) {
  if (std::abs(value) < 0.0005) return "0.000";
  return (value > 0 ? "+" : "") + value_text(value);
}

std::string interval_text(double value, double low, double high) {
  return fmt::format("{} [{}, {}]", value_text(value), value_text(low), value_text(high));
}

std::string change_interval_text(const Difference& difference) {
  if (!difference.ci95) return "";
  return fmt::format(" [{}, {}]", change_text((*difference.ci95)[0]), change_text((*difference.ci95)[1]));
}

std::string p_text(double p) { return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p); }

std::string count_text(int64_t n, const std::string& noun) {
  return n == 1 ? fmt::format("1 {}", noun) : fmt::format("{} {}s", n, noun);
}

std::string wrapped(const std::string& text, size_t width, size_t indent) {
  std::string out, line;
  for (const std::string_view word : split(text, ' ')) {
    const size_t start = out.empty() ? indent : indent + 2;
    if (!line.empty() && start + display_width(line) + 1 + display_width(word) > width) {
      out += std::string(start, ' ') + line + '\n';
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return out + std::string(out.empty() ? indent : indent + 2, ' ') + line + '\n';
}

std::string coloured(const std::string& text, const char* code, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

}  // namespace headprune
