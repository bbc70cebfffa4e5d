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
  for (const Json& number : read_field<Json>(json, key)) numbers.push_back(read_measurement(number));
  return numbers;
}

BlockId read_block(const Json& json) {
  return {parse_kind(read_field<std::string>(json, "kind")), read_field<int64_t>(json, "layer")};
}

}  // namespace

Estimate AnalysisColumn::share(size_t at) const {
  Estimate estimate{.value = values.at(at), .n = n, .stderr_ = {}, .ci95 = {}, .interval = ""};
  if (stderrs.empty()) return estimate;
  estimate.stderr_ = stderrs.at(at);
  const RangedValue value{.value = estimate.value,
                          .variance = *estimate.stderr_ * *estimate.stderr_,
                          .least_n = static_cast<double>(examples),
                          .most_n = static_cast<double>(n)};
  estimate.ci95 = interval_in_range(value, {.low = 0, .high = 1});
  if (estimate.ci95) estimate.interval = "wilson";
  return estimate;
}

Json AnalysisColumn::to_json() const {
  Json json = {{"name", name}, {"values", numbers_json(values)}};
  if (!stderrs.empty()) json["stderr"] = numbers_json(stderrs);
  write_optional(json, "uniform", uniform);
  if (n > 0) json["n"] = n, json["examples"] = examples;
  return json;
}

AnalysisColumn AnalysisColumn::from_json(const Json& json) {
  AnalysisColumn column;
  column.name = read_field<std::string>(json, "name");
  column.values = read_numbers(json, "values");
  if (json.contains("stderr")) column.stderrs = read_numbers(json, "stderr");
  column.uniform = read_optional<double>(json, "uniform");
  column.n = read_or<int64_t>(json, "n", 0);
  column.examples = read_or<int64_t>(json, "examples", 0);
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
  block.analysis = read_field<std::string>(json, "analysis");
  block.block = read_block(json);
  block.heads = read_field<std::vector<int64_t>>(json, "heads");
  for (const Json& column : read_field<Json>(json, "columns")) {
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
  return json;
}

RoleFact RoleFact::from_json(const Json& json) {
  return {.head = {read_block(json), read_field<int64_t>(json, "head")},
          .role = read_field<std::string>(json, "role"),
          .detail = read_or<std::string>(json, "detail", ""),
          .column = read_field<std::string>(json, "column")};
}

Json AnalysisDone::to_json() const {
  Json json = {{"seed", seed}, {"analysis", analysis}};
  json["roles"] = Json::array();
  for (const RoleFact& role : roles) json["roles"].push_back(role.to_json());
  json["notes"] = notes;
  json["examples"] = examples;
  json["forward"] = forward;
  json["dur_s"] = dur_s;
  return json;
}

AnalysisDone AnalysisDone::from_json(const Json& json) {
  AnalysisDone done;
  done.seed = read_field<int64_t>(json, "seed");
  done.analysis = read_field<std::string>(json, "analysis");
  for (const Json& role : read_field<Json>(json, "roles")) done.roles.push_back(RoleFact::from_json(role));
  done.notes = read_field<std::vector<std::string>>(json, "notes");
  done.examples = read_field<int64_t>(json, "examples");
  done.forward = read_field<int64_t>(json, "forward");
  done.dur_s = read_field<double>(json, "dur_s");
  return done;
}

}  // namespace headprune
