#include "report/tables/sensitivity_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "report/tables/notes.h"

namespace headprune {
namespace {

std::string change_cell(const PointGroup& group, const std::string& metric) {
  const MetricSummary* summary = group.metric(metric);
  if (summary == nullptr || !summary->difference) return "- ";
  return change_text(summary->difference->delta) + (summary->significant() ? "*" : " ");
}

/// A block or a kind with its points.
struct GridRow {
  std::string name;
  std::vector<const PointGroup*> groups;
};

std::vector<GridRow> grid_units(const SensitivityTable& table) {
  std::vector<GridRow> units;
  for (const PointGroup* group : table.groups) {
    const PointSpec& spec = group->first().spec;
    const std::string name = spec.layer ? to_string(BlockId{parse_kind(spec.kind), *spec.layer}) : spec.kind;
    if (units.empty() || units.back().name != name) units.push_back({name, {}});
    units.back().groups.push_back(group);
  }
  return units;
}

/// Fractions of the points of one column.
struct FractionRange {
  double low = 1, high = 0;
  std::string title() const {
    return low == high ? fmt::format("{:.4g} ", low) : fmt::format("{:.4g} to {:.4g} ", low, high);
  }
};

/// Whether it is about groups of heads.
bool of_groups(const SensitivityTable& table) {
  return std::any_of(table.groups.begin(), table.groups.end(), [](const PointGroup* group) {
    return group->first().spec.group.has_value() || group->first().kept_group.has_value();
  });
}

/// Blocks or kinds down, heads or fractions across. Units with different numbers of heads reach different fractions for
/// the same one of the configuration; their points share a column where every unit has as many of them.
TextRows grid_rows(const SensitivityTable& table, const std::string& metric) {
  const bool heads = table.shown == Shown::heads;
  const bool groups = of_groups(table);
  const std::vector<GridRow> units = grid_units(table);
  const bool steps = std::all_of(units.begin(), units.end(), [&](const GridRow& unit) {
    return unit.groups.size() == units.front().groups.size();
  });
  const auto place_of = [&](const PointResult& point) {
    if (heads) return static_cast<double>(point.spec.head.value_or(point.spec.group.value_or(0)));
    return steps ? static_cast<double>(point.step) : point.fraction;
  };
  std::map<double, FractionRange> columns;
  for (const PointGroup* group : table.groups) {
    const PointResult& point = group->first();
    FractionRange& range = columns[place_of(point)];
    range.low = std::min(range.low, point.fraction);
    range.high = std::max(range.high, point.fraction);
  }
  TextRows rows = {{""}};
  for (const auto& [place, range] : columns)
    rows[0].push_back(heads ? fmt::format("{}{:.0f} ", groups ? 'G' : 'H', place) : range.title());
  for (const GridRow& unit : units) {
    std::vector<std::string> row(columns.size() + 1);
    row[0] = unit.name;
    for (const PointGroup* group : unit.groups) {
      const auto column = std::distance(columns.begin(), columns.find(place_of(group->first())));
      row[1 + static_cast<size_t>(column)] = change_cell(*group, metric);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The heads that were kept, one for each seed; a single one where they agree.
std::string kept_heads(const PointGroup& group) {
  std::vector<std::string> heads;
  for (const PointResult* member : group.members)
    heads.push_back(member->kept_head    ? fmt::format("H{}", *member->kept_head)
                    : member->kept_group ? fmt::format("G{}", *member->kept_group)
                                         : "-");
  const bool same = std::all_of(heads.begin(), heads.end(), [&](const std::string& head) { return head == heads[0]; });
  return same ? heads[0] : join(heads, ",");
}

/// Whether the points of a table leave each block one head, or one group.
bool keeps_one(const SensitivityTable& table) {
  return std::any_of(table.groups.begin(), table.groups.end(), [](const PointGroup* group) {
    return group->first().kept_head.has_value() || group->first().kept_group.has_value();
  });
}

TextRows list_rows(const SensitivityTable& table, const std::string& metric) {
  const bool kept = keeps_one(table);
  TextRows rows = {{"block", "removed"}};
  if (kept) rows[0].push_back("kept");
  for (const std::string& title : {metric, std::string("change ")}) rows[0].push_back(title);
  for (const PointGroup* group : table.groups) {
    const PointResult& point = group->first();
    std::vector<std::string> row = {sensitivity_unit(point.spec),
                                    fmt::format("{} of {}", point.spec.heads_removed, point.heads_total)};
    if (kept) row.push_back(kept_heads(*group));
    const MetricSummary* summary = group->metric(metric);
    row.push_back(summary == nullptr ? "-" : estimate_text(summary->estimate));
    row.push_back(change_cell(*group, metric));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<SensitivityTable> sensitivity_tables(const std::vector<PointGroup>& groups) {
  std::vector<SensitivityTable> tables;
  for (const PointGroup& group : groups) {
    const PointSpec& spec = group.first().spec;
    if (tables.empty() || tables.back().name != spec.table || tables.back().method != spec.method ||
        tables.back().seed != group.seed)
      tables.push_back({spec.table, spec.method, spec.shown(), group.seed, {}});
    tables.back().groups.push_back(&group);
  }
  return tables;
}

TextRows sensitivity_rows(const SensitivityTable& table, const std::string& metric) {
  return table.shown == Shown::blocks ? list_rows(table, metric) : grid_rows(table, metric);
}

std::string table_title(const SensitivityTable& table) {
  switch (table.shown) {
    case Shown::heads:
      return (of_groups(table) ? "each group of heads removed alone" : "each head removed alone") +
             (table.seed ? fmt::format(", the model of seed {}", *table.seed) : "");
    case Shown::fractions:
      return fmt::format("a fraction of one {} removed, by {}",
                         table.groups.front()->first().spec.layer ? "block" : "attention kind", table.method);
    case Shown::blocks:
      if (!keeps_one(table)) return "all heads of one block removed";
      return fmt::format("a block's {} removed but one, chosen on the select split",
                         of_groups(table) ? "groups of heads" : "heads");
  }
  return "";
}

std::vector<std::string> table_notes(const Record& record, const SensitivityTable& table, const std::string& metric) {
  std::vector<std::string> notes = star_notes(table.groups, metric, "the table");
  std::set<std::pair<int64_t, int64_t>> orders;
  for (const PointGroup* group : table.groups)
    for (const PointResult* member : group->members) orders.insert({member->spec.seed, member->spec.draw.value_or(0)});
  if (is_random(record, table.method) && orders.size() == 1)
    notes.push_back("One random order, which says nothing of others: stars are of these very heads.");
  if (std::string note = power_note(record, {table.groups}, metric); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace headprune
