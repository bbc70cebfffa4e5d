// The part of a report that says what heads do.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/text.h"
#include "report/numbers/groups.h"
#include "report/numbers/role_agreement.h"
#include "report/numbers/roles.h"
#include "report/page/report_sections.h"

namespace headprune {
namespace {

/// "H3 (offset -1, 0.97)"
std::string head_text(const RoleRow& row) {
  const std::string detail = row.fact.detail.empty() ? "" : row.fact.detail + ", ";
  return fmt::format("H{} ({}{})", row.fact.head.head, detail, value_text(row.share.value));
}

/// Blocks by roles, of one model: which heads have each.
TextRows roles_by_block(const std::vector<RoleRow>& rows, const Blocks& blocks) {
  std::vector<std::string> roles;
  std::map<std::pair<BlockId, std::string>, std::vector<std::string>> cells;
  for (const RoleRow& row : rows) {
    if (std::find(roles.begin(), roles.end(), row.fact.role) == roles.end()) roles.push_back(row.fact.role);
    cells[{row.fact.head.block, row.fact.role}].push_back(head_text(row));
  }
  TextRows table = {{"block"}};
  for (const std::string& role : roles) table.front().push_back(role);
  for (const BlockHeads& block : blocks) {
    std::vector<std::string> line = {to_string(block.id)};
    for (const std::string& role : roles) line.push_back(join(cells[{block.id, role}], ", "));
    table.push_back(std::move(line));
  }
  return table;
}

/// The numbers behind the roles.
TextRows role_table(const std::vector<RoleRow>& rows) {
  TextRows table = {{"head", "role", "measured by", "value", "95 % interval", "baseline", "texts"}};
  for (const RoleRow& row : rows) {
    const std::vector<std::string> number = estimate_cells(row.share.estimate());  // value, standard error, interval
    table.push_back({to_string(row.fact.head), row.fact.role + (row.fact.detail.empty() ? "" : ": " + row.fact.detail),
                     row.analysis + ", " + row.fact.column, number[0], number[2],
                     row.share.baseline ? value_text(*row.share.baseline) : "N/A", std::to_string(row.share.examples)});
  }
  return table;
}

/// Heads left, then a column for each role: "2 of 5 (3.1)".
std::map<std::string, TextRows> survival_tables(const Record& record, int64_t seed) {
  std::map<std::string, TextRows> tables;
  std::map<std::string, const PointResult*> last;
  for (const RoleSurvival& row : role_survival(record)) {
    const PointSpec& spec = row.point->spec;
    if (spec.seed != seed || is_random(record, spec.method)) continue;
    const std::string title = fmt::format("{}, {}", spec.sweep, spec.method);
    TextRows& table = tables[title];
    if (table.empty()) table.push_back({"removed"});
    if (last[title] != row.point) {
      table.push_back({fmt::format("{:.3g} %", 100 * row.point->fraction)});
      last[title] = row.point;
    }
    if (table.size() == 2) table.front().push_back(row.role);  // each point lists the same roles
    table.back().push_back(fmt::format("{} of {} ({:.1f})", row.kept, row.of, row.expected));
  }
  return tables;
}

TextRows agreement_table(const std::vector<RoleAgreement>& rows, int64_t seed) {
  TextRows table = {{"role", "against", "Spearman", "95 % interval", "p", "q", "heads"}};
  for (const RoleAgreement& row : rows) {
    if (row.seed != seed) continue;
    table.push_back({row.role + " (" + row.column + ")", row.against,
                     row.spearman ? change_text(*row.spearman) + (row.q && *row.q < kAlpha ? "*" : "") : "N/A",
                     row.ci_low ? fmt::format("[{}, {}]", change_text(*row.ci_low), change_text(*row.ci_high)) : "N/A",
                     row.p ? p_text(*row.p) : "N/A", row.q ? p_text(*row.q) : "N/A", std::to_string(row.n)});
  }
  return table;
}

std::string cell_text(const Json& value) {
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  if (value.is_number()) return value_text(value.get<double>());
  return value.is_string() ? value.get<std::string>() : "N/A";
}

std::vector<DocBlock> table_blocks(const RecordedAnalysis& analysis, const std::string& of_seed) {
  std::vector<DocBlock> blocks;
  for (const AnalysisTable& table : analysis.done->tables) {
    TextRows rows = {table.header};
    size_t text = 0;  // columns of text stand on the left
    while (text < table.header.size() && !table.rows.empty() && table.rows.front()[text].is_string()) ++text;
    for (const std::vector<Json>& cells : table.rows) {
      rows.emplace_back();
      for (const Json& cell : cells) rows.back().push_back(cell_text(cell));
    }
    blocks.push_back(fold_block(fmt::format("{}: {}{}", analysis.done->analysis, table.name, of_seed),
                                {table_block(std::move(rows), std::max<size_t>(1, text))}));
  }
  return blocks;
}

/// `of_seed`: "" where one model stands for all.
std::string found_text(const RecordedAnalysis& analysis, const std::string& of_seed) {
  const AnalysisDone& done = *analysis.done;
  std::string text = fmt::format("{}{}: {}", done.analysis, of_seed, count_text(done.examples, "text"));
  for (const std::string& note : done.notes) text += "; " + note;
  if (done.roles.empty()) text += "; no head reaches a threshold";
  return text + ".";
}

}  // namespace

std::vector<DocBlock> role_section(const ReportInput& input) {
  const Record& record = input.record;
  const std::vector<const RecordedAnalysis*> analyses = shown_analyses(record);
  if (analyses.empty() || !record.facts) return {};
  std::vector<DocBlock> blocks = {
      heading_block("What heads do"),
      paragraph_block("A head has a role where a measured share of its attention reaches the threshold that the "
                      "experiment sets, and is more than its baseline: beyond its standard error what attention gives "
                      "that is uniform over all visible tokens, or (syntactic) by a margin what the best fixed offset "
                      "or permuted rows give. "
                      "It is a description of where the head looks, on these texts; that the model needs it is for the "
                      "curves to say. Intervals are over texts, one head at a time.")};
  std::vector<std::string> found;
  std::map<int64_t, std::vector<RoleRow>> by_seed;
  for (const RoleRow& row : role_rows(record)) by_seed[row.seed].push_back(row);
  const bool several = analyses.front()->done->seed != analyses.back()->done->seed;
  for (const RecordedAnalysis* analysis : analyses)
    found.push_back(found_text(*analysis, several ? fmt::format(", seed {}", analysis->done->seed) : ""));
  blocks.push_back(list_block(found));
  for (const RecordedAnalysis* analysis : analyses)
    for (DocBlock& block : table_blocks(*analysis, several ? fmt::format(", seed {}", analysis->done->seed) : ""))
      blocks.push_back(std::move(block));
  for (const auto& [seed, rows] : by_seed) {
    if (several) blocks.push_back(paragraph_block(fmt::format("Seed {}", seed)));
    blocks.push_back(table_block(roles_by_block(rows, record.facts->blocks), 99));
    blocks.push_back(fold_block("The numbers behind the roles", {table_block(role_table(rows), 3)}));
    if (TextRows table = agreement_table(input.role_agreement, seed); table.size() > 1) {
      blocks.push_back(paragraph_block(
          "Do heads with more of a role score higher, and does the model lose more without them? Rank correlation over "
          "heads with each score and with leave_one_out (how much worse the first metric gets without the head); p by "
          "permutation, * q < 0.05 over this table. The interval takes the heads for a sample of such heads; it says "
          "nothing of other models."));
      blocks.push_back(table_block(std::move(table), 2));
    }
    for (const auto& [title, table] : survival_tables(record, seed)) {
      blocks.push_back(paragraph_block(
          fmt::format("Which roles survive {}: heads kept of those with the role, in brackets how many a random order "
                      "keeps on average. A head with several roles counts in each.",
                      title)));
      blocks.push_back(table_block(table));
    }
  }
  if (std::vector<Figure> figures = role_figures(record); !figures.empty())
    blocks.push_back(figures_block(std::move(figures)));
  if (std::vector<Figure> figures = cluster_figures(record); !figures.empty())
    blocks.push_back(fold_block("Heads that are near each other", {figures_block(std::move(figures))}));
  blocks.push_back(fold_block("Where every head looks", {figures_block(analysis_figures(record))}));
  return blocks;
}

}  // namespace headprune
