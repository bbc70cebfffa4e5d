#include "record/analysis_events.h"

#include <algorithm>

#include "record/events.h"
#include "record/json_fields.h"
#include "stats/intervals.h"

namespace headprune {
namespace {

Json numbers_json(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) list.push_back(measurement_json(number));
  return list;
}

std::vector<double> read_numbers(const Json& json, const char* key) {
  std::vector<double> numbers;
  for (const Json& number : read_list(json, key)) numbers.push_back(read_measurement(number));
  return numbers;
}

}  // namespace

Estimate ShareFact::estimate() const {
  Estimate estimate{.value = value, .n = n, .stderr_ = stderr_, .ci95 = {}, .interval = ""};
  if (!stderr_) return estimate;
  if (difference) {
    estimate.ci95 = interval_in_range({.value = value, .variance = *stderr_ * *stderr_}, {.low = -1, .high = 1});
    if (estimate.ci95) estimate.interval = "normal";
    return estimate;
  }
  const RangedValue share{.value = value,
                          .variance = *stderr_ * *stderr_,
                          .least_n = static_cast<double>(examples),
                          .most_n = static_cast<double>(n)};
  estimate.ci95 = interval_in_range(share, {.low = 0, .high = 1});
  if (estimate.ci95) estimate.interval = "wilson";
  return estimate;
}

Json ShareFact::to_json() const {
  Json json = {{"value", measurement_json(value)}};
  write_optional(json, "stderr", stderr_);
  write_optional(json, "baseline", baseline);
  json["n"] = n;
  json["examples"] = examples;
  if (difference) json["difference"] = true;
  return json;
}

ShareFact ShareFact::from_json(const Json& json) {
  return {.value = read_measurement(read_member(json, "value")),
          .stderr_ = read_optional<double>(json, "stderr"),
          .baseline = read_optional<double>(json, "baseline"),
          .n = read_field<int64_t>(json, "n"),
          .examples = read_field<int64_t>(json, "examples"),
          .difference = read_or(json, "difference", false)};
}

ShareFact AnalysisColumn::share(size_t at) const {
  return {.value = values.at(at),
          .stderr_ = stderrs.empty() ? std::nullopt : std::optional(stderrs.at(at)),
          .baseline = baseline,
          .n = n,
          .examples = examples,
          .difference = difference};
}

Json AnalysisColumn::to_json() const {
  Json json = {{"name", name}, {"values", numbers_json(values)}};
  if (!stderrs.empty()) json["stderr"] = numbers_json(stderrs);
  write_optional(json, "baseline", baseline);
  if (n > 0) json["n"] = n, json["examples"] = examples;
  if (difference) json["difference"] = true;
  return json;
}

AnalysisColumn AnalysisColumn::from_json(const Json& json) {
  AnalysisColumn column;
  column.name = read_field<std::string>(json, "name");
  column.values = read_numbers(json, "values");
  if (json.contains("stderr")) column.stderrs = read_numbers(json, "stderr");
  column.baseline = read_optional<double>(json, "baseline");
  column.n = read_or<int64_t>(json, "n", 0);
  column.examples = read_or<int64_t>(json, "examples", 0);
  column.difference = read_or(json, "difference", false);
  return column;
}

const AnalysisColumn* AnalysisBlock::column(const std::string& name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const AnalysisColumn& one) { return one.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Json AnalysisBlock::to_json() const {
  Json json = {{"seed", seed},
               {"analysis", analysis},
               {"kind", to_string(block.kind)},
               {"layer", block.layer},
               {"heads", heads}};
  json["columns"] = Json::array();
  for (const AnalysisColumn& column : columns) json["columns"].push_back(column.to_json());
  return json;
}

AnalysisBlock AnalysisBlock::from_json(const Json& json) {
  AnalysisBlock block;
  block.seed = read_field<int64_t>(json, "seed");
  block.analysis = read_labels(json, "analysis");
  block.block = read_block(json);
  block.heads = read_heads(json, "heads");
  for (const Json& column : read_list(json, "columns")) {
    block.columns.push_back(AnalysisColumn::from_json(column));
    const AnalysisColumn& read = block.columns.back();
    if (read.values.size() != block.heads.size() ||
        (!read.stderrs.empty() && read.stderrs.size() != block.heads.size()))
      fail(ExitCode::run_failed, "an analysis event has another number of values than of heads");
  }
  return block;
}

Json RoleFact::to_json() const {
  Json json = {{"kind", to_string(head.block.kind)},
               {"layer", head.block.layer},
               {"head", head.head},
               {"role", role},
               {"column", column}};
  write_text(json, "detail", detail);
  if (evidence) json["evidence"] = evidence->to_json();
  return json;
}

RoleFact RoleFact::from_json(const Json& json) {
  RoleFact fact{.head = {read_block(json), read_index(json, "head")},
                .role = read_field<std::string>(json, "role"),
                .detail = read_or<std::string>(json, "detail", ""),
                .column = read_field<std::string>(json, "column")};
  if (const auto evidence = json.find("evidence"); evidence != json.end())
    fact.evidence = ShareFact::from_json(*evidence);
  return fact;
}

Json AnalysisTable::to_json() const { return {{"name", name}, {"header", header}, {"rows", rows}}; }

AnalysisTable AnalysisTable::from_json(const Json& json) {
  AnalysisTable table{.name = read_label(json, "name"),
                      .header = read_field<std::vector<std::string>>(json, "header"),
                      .rows = read_field<std::vector<std::vector<Json>>>(json, "rows")};
  for (const std::vector<Json>& row : table.rows)
    if (row.size() != table.header.size())
      fail(ExitCode::run_failed, "table {} of an analysis has a row of another width than its header", table.name);
  return table;
}

std::vector<double> HeadMatrix::values() const {
  std::vector<double> whole(rows.size() * rows.size());
  for (size_t a = 0; a < rows.size(); ++a)
    for (size_t b = 0; b <= a; ++b) whole[a * rows.size() + b] = whole[b * rows.size() + a] = rows[a].at(b);
  return whole;
}

std::vector<double> HeadMatrix::distances() const {
  std::vector<double> apart = values();
  if (similarity)
    for (double& one : apart) one = one > 1 ? 0 : 1 - one;  // NaN stays
  return apart;
}

Json MatrixRow::to_json() const {
  Json json = {{"seed", seed}, {"analysis", analysis}, {"matrix", matrix}, {"values", numbers_json(values)}};
  if (similarity) json["similarity"] = true;
  write_optional(json, "cut", cut);
  return json;
}

MatrixRow MatrixRow::from_json(const Json& json) {
  return {.seed = read_field<int64_t>(json, "seed"),
          .analysis = read_label(json, "analysis"),
          .matrix = read_label(json, "matrix"),
          .similarity = read_or(json, "similarity", false),
          .cut = read_optional<double>(json, "cut"),
          .values = read_numbers(json, "values")};
}

void add_row(std::vector<HeadMatrix>& matrices, const MatrixRow& row) {
  if (matrices.empty() || matrices.back().name != row.matrix)
    matrices.push_back({.name = row.matrix, .similarity = row.similarity, .cut = row.cut, .rows = {}});
  std::vector<std::vector<double>>& rows = matrices.back().rows;
  if (row.values.size() != rows.size() + 1)
    fail(ExitCode::run_failed, "row {} of matrix {} of an analysis has {} numbers", rows.size() + 1, row.matrix,
         row.values.size());
  rows.push_back(row.values);
}

void require_whole(const std::vector<HeadMatrix>& matrices, int64_t heads) {
  for (const HeadMatrix& matrix : matrices)
    if (matrix.heads() != heads)
      fail(ExitCode::run_failed, "matrix {} of an analysis is of {} heads, and the analysis of {}", matrix.name,
           matrix.heads(), heads);
}

Json AnalysisDone::to_json() const {
  Json json = {{"seed", seed}, {"analysis", analysis}};
  json["roles"] = Json::array();
  for (const RoleFact& role : roles) json["roles"].push_back(role.to_json());
  json["strengths"] = Json::object();
  for (const RoleStrength& strength : strengths) json["strengths"][strength.role] = strength.column;
  if (!tables.empty()) json["tables"] = Json::array();
  for (const AnalysisTable& table : tables) json["tables"].push_back(table.to_json());
  json["notes"] = notes;
  json["examples"] = examples;
  json["forward"] = forward;
  json["dur_s"] = dur_s;
  return json;
}

AnalysisDone AnalysisDone::from_json(const Json& json) {
  AnalysisDone done;
  done.seed = read_field<int64_t>(json, "seed");
  done.analysis = read_labels(json, "analysis");
  for (const Json& role : read_list(json, "roles")) done.roles.push_back(RoleFact::from_json(role));
  if (json.contains("strengths")) {
    const Json& strengths = read_object(json, "strengths");
    for (const auto& [role, column] : strengths.items())
      done.strengths.push_back({role, read_field<std::string>(strengths, role.c_str())});
  }
  if (json.contains("tables"))
    for (const Json& table : read_list(json, "tables")) done.tables.push_back(AnalysisTable::from_json(table));
  done.notes = read_field<std::vector<std::string>>(json, "notes");
  done.examples = read_field<int64_t>(json, "examples");
  done.forward = read_field<int64_t>(json, "forward");
  done.dur_s = read_field<double>(json, "dur_s");
  return done;
}

}  // namespace headprune
