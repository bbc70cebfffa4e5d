#include "report/draw/head_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headprune {

HeatMap head_map(const Record& record) {
  HeatMap map;
  int64_t heads = 0;
  if (!record.facts) return map;
  for (const BlockHeads& block : record.facts->blocks) {
    for (const int64_t head : block.heads) heads = std::max(heads, head + 1);
  }
  for (int64_t head = 0; head < heads; ++head) map.columns.push_back(fmt::format("H{}", head));
  for (const BlockHeads& block : record.facts->blocks) map.rows.push_back(to_string(block.id));
  map.cells.assign(map.rows.size(), std::vector<HeatCell>(map.columns.size()));
  return map;
}

HeatCell* cell_of(HeatMap& map, const HeadId& head) {
  const auto row = std::find(map.rows.begin(), map.rows.end(), to_string(head.block));
  if (row == map.rows.end() || head.head < 0 || head.head >= static_cast<int64_t>(map.columns.size())) return nullptr;
  return &map.cells[static_cast<size_t>(row - map.rows.begin())][static_cast<size_t>(head.head)];
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "?";
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size >= 0.001 || value == 0) return fmt::format("{:.2g}", value);
  return fmt::format("{:.0e}", value);
}

}  // namespace headprune
