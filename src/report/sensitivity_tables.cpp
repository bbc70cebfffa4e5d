#include "report/sensitivity_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "report/results_json.h"

namespace headprune {
namespace {

/// How many of a group's members have a q, and how many of those are below the level.
struct Significance {
  size_t tested = 0, found = 0;
  char mark() const { return found == 0 ? ' ' : found == tested ? '*' : '~'; }
};

Significance significance(const PointGroup& group, const std::string& metric, const SensitivityQ& q) {
  Significance result;
  for (const PointResult* member : group.members) {
    const auto own = q.find({member->point, metric});
    if (own == q.end()) continue;
    ++result.tested;
    result.found += own->second < kAlpha ? 1 : 0;
  }
  return result;
}

std::string change_cell(const PointGroup& group, const std::string& metric, const SensitivityQ& q) {
  const MetricSummary* summary = group.metric(metric);
  if (summary == nullptr || !summary->difference) return "- ";
  return change_text(summary->difference->delta) + significance(group, metric, q).mark();
}

/// Blocks down, heads or fractions across.
TextRows grid_rows(const SensitivityTable& table, const std::string& metric, const SensitivityQ& q) {
  const bool heads = table.name == "leave_one_out";
  std::map<double, std::string> columns;                       // place -> title
  std::map<BlockId, std::map<double, std::string>> blocks;     // place -> cell
  std::map<std::string, std::map<double, std::string>> kinds;  // without layers
  for (const PointGroup* group : table.groups) {
    const PointResult& point = group->first();
    const PointSpec& spec = point.spec;
    const double place = heads ? static_cast<double>(spec.head.value_or(0)) : point.fraction;
    columns[place] = heads ? fmt::format("H{} ", spec.head.value_or(0)) : fmt::format("{:.4g} ", point.fraction);
    const std::string cell = change_cell(*group, metric, q);
    if (spec.layer) {
      blocks[{parse_kind(spec.kind), *spec.layer}][place] = cell;
    } else {
      kinds[spec.kind][place] = cell;
    }
  }
  TextRows rows = {{""}};
  for (const auto& [place, title] : columns) rows[0].push_back(title);
  const auto add = [&](const std::string& name, const std::map<double, std::string>& cells) {
    std::vector<std::string> row = {name};
    for (const auto& [place, title] : columns) {
      const auto cell = cells.find(place);
      row.push_back(cell == cells.end() ? "" : cell->second);
    }
    rows.push_back(std::move(row));
  };
  for (const auto& [id, cells] : blocks) add(to_string(id), cells);
  for (const auto& [kind, cells] : kinds) add(kind, cells);
  return rows;
}

/// The heads that all_but_one kept, one for each seed; a single one where they agree.
std::string kept_heads(const PointGroup& group) {
  std::vector<std::string> heads;
  for (const PointResult* member : group.members)
    heads.push_back(member->spec.head ? fmt::format("H{}", *member->spec.head) : "-");
  const bool same = std::all_of(heads.begin(), heads.end(), [&](const std::string& head) { return head == heads[0]; });
  return same ? heads[0] : join(heads, ",");
}

TextRows list_rows(const SensitivityTable& table, const std::string& metric, const SensitivityQ& q) {
  const bool kept = table.name == "all_but_one";
  TextRows rows = {{"block", "removed"}};
  if (kept) rows[0].push_back("kept");
  for (const std::string& title : {metric, std::string("change ")}) rows[0].push_back(title);
  for (const PointGroup* group : table.groups) {
    const PointResult& point = group->first();
    std::vector<std::string> row = {sensitivity_unit(point.spec),
                                    fmt::format("{} of {}", point.spec.heads_removed, point.heads_total)};
    if (kept) row.push_back(kept_heads(*group));
    const MetricSummary* summary = group->metric(metric);
    if (summary == nullptr) {
      row.push_back("-");
    } else if (summary->estimate.ci95) {
      row.push_back(interval_text(summary->estimate.value, (*summary->estimate.ci95)[0], (*summary->estimate.ci95)[1]));
    } else {
      row.push_back(value_text(summary->estimate.value));
    }
    row.push_back(change_cell(*group, metric, q));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string test_name(const std::string& test) {
  if (test == "mcnemar") return "exact McNemar test";
  if (test == "paired_bootstrap") return "paired bootstrap";
  return test;
}

}  // namespace

std::vector<SensitivityTable> sensitivity_tables(const std::vector<PointGroup>& groups) {
  std::vector<SensitivityTable> tables;
  for (const PointGroup& group : groups) {
    const PointSpec& spec = group.first().spec;
    if (tables.empty() || tables.back().name != spec.table || tables.back().method != spec.method) {
      tables.push_back({spec.table, spec.method, {}});
    }
    tables.back().groups.push_back(&group);
  }
  return tables;
}

TextRows sensitivity_rows(const SensitivityTable& table, const std::string& metric, const SensitivityQ& q) {
  const bool grid = table.name == "leave_one_out" || !table.method.empty();
  return grid ? grid_rows(table, metric, q) : list_rows(table, metric, q);
}

std::string table_title(const SensitivityTable& table) {
  if (table.name == "leave_one_out") return "each head removed alone";
  if (table.name == "all_but_one") return "a block's heads removed but one, chosen on the select split";
  if (table.name == "layer_removed") return "all heads of one block removed";
  if (table.name == "layer_curve") return fmt::format("a fraction of one block removed, by {}", table.method);
  if (table.name == "kind_curve") return fmt::format("a fraction of one attention kind removed, by {}", table.method);
  return "";
}

std::string marks_sentence(const SensitivityTable& table, const std::string& metric, const SensitivityQ& q) {
  size_t tested = 0, all = 0, some = 0, seeds = 1;
  int64_t draws = 1;
  std::set<std::string> tests;
  for (const PointGroup* group : table.groups) {
    const Significance found = significance(*group, metric, q);
    tested += found.tested > 0 ? 1 : 0;
    all += found.mark() == '*' ? 1 : 0;
    some += found.mark() == '~' ? 1 : 0;
    const MetricSummary* summary = group->metric(metric);
    if (summary != nullptr) {
      seeds = std::max(seeds, summary->seeds.size());
      draws = std::max(draws, summary->draws);
    }
    for (const PointResult* member : group->members) {
      const MetricResult* result = member->metric(metric);
      if (result != nullptr && result->difference && !result->difference->test.empty()) {
        tests.insert(test_name(result->difference->test));
      }
    }
  }
  if (tested == 0) return "No test was possible, so nothing is marked.";
  const std::string test = join({tests.begin(), tests.end()}, ", ");
  std::vector<std::string> members;
  if (draws > 1) members.push_back(fmt::format("{} draws", draws));
  if (seeds > 1) members.push_back(fmt::format("{} seeds", seeds));
  const std::string of = join(members, " and ");
  std::string text = fmt::format("* {} of {}: q < 0.05{} ({}, Benjamini-Hochberg over the table{})", all, tested,
                                 of.empty() ? "" : " in all " + of, test, seeds > 1 ? " of each seed" : "");
  if (some > 0) text += fmt::format("; ~ {} more in some of the {}", some, of);
  return text + ".";
}

}  // namespace headprune
