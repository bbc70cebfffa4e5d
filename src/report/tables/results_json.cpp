#include "report/tables/results_json.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "report/numbers/groups.h"
#include "report/tables/pruning_json.h"

namespace headprune {
namespace {

double seconds_of(const std::string& time) { return time.empty() ? 0.0 : unix_seconds(time); }

/// Nothing of the host: two machines with one fingerprint write the same file.
std::string environment_text(const Record& record) {
  std::vector<std::string> lines = {
      fmt::format("headprune {} ({})", member_text(record.tool, "version"), member_text(record.tool, "git")),
      fmt::format("compiler {}", member_text(record.tool, "compiler"))};
  if (record.fingerprint.is_object()) {
    for (const auto& [key, value] : record.fingerprint.items()) {
      lines.push_back(fmt::format("{} {}", key, member_text(record.fingerprint, key.c_str())));
    }
  }
  std::string text;
  for (const std::string& line : lines) text += text.empty() ? line : "\n" + line;
  return text;
}

const SplitFact* split_of(const RunFacts& facts, const std::string& role) {
  for (const SplitFact& split : facts.splits) {
    if (split.role == role) return &split;
  }
  return nullptr;
}

Json task_results(const Record& record, const std::string& task) {
  Json json;
  json["alias"] = task;
  const std::optional<PointGroup> base = base_group(record);
  if (!base) return json;
  int64_t n = 0;
  for (const MetricSummary& metric : base->metrics) {
    json[metric.name + ",none"] = number_or_null(metric.estimate.value);
    const std::optional<double> error = metric.estimate.stderr_;
    json[metric.name + "_stderr,none"] = error && std::isfinite(*error) ? Json(*error) : Json("N/A");
    n = std::max(n, metric.estimate.n);
  }
  json["sample_len"] = n;
  return json;
}

void add_task(const Record& record, const RunFacts& facts, Json& json) {
  const std::string& task = facts.task;
  json["results"][task] = task_results(record, task);
  json["configs"][task] = facts.task_config;
  json["versions"][task] = 1;
  json["n-samples"] = Json::object();
  if (const SplitFact* split = split_of(facts, "report")) {
    json["n-samples"][task] = {{"original", split->original}, {"effective", split->effective}};
  }
  json["higher_is_better"][task] = Json::object();
  for (const MetricFact& metric : facts.metrics) json["higher_is_better"][task][metric.name] = metric.higher_is_better;
}

Json config_json(const RunFacts& facts) {
  Json json;
  json["model"] = facts.model;
  json["model_args"] = facts.model_args;
  json["batch_size"] = facts.batch_size;
  json["device"] = facts.device;
  json["limit"] = facts.limit ? Json(*facts.limit) : Json(nullptr);
  json["bootstrap_iters"] = facts.bootstrap_iters;
  json["random_seed"] = facts.seeds.empty() ? Json(nullptr) : Json(facts.seeds.front());
  json["seeds"] = facts.seeds;
  return json;
}

void add_splits(const RunFacts& facts, Json& json) {
  json["splits"] = Json::object();
  json["split_notes"] = Json::object();
  for (const SplitFact& split : facts.splits) {
    json["splits"][split.role] = split.name;
    if (!split.note.empty()) json["split_notes"][split.role] = split.note;
  }
  json["shared_splits"] = facts.shared_splits;
}

Json points_json(const Record& record) {
  Json json = Json::array();
  for (const auto& [id, failure] : record.failed) {
    json.push_back({{"point", id}, {"reason", failure.reason}, {"message", failure.message}});
  }
  return json;
}

}  // namespace

Json results_json(const Record& record, const std::vector<AgreementRow>& agreement) {
  const RunFacts facts = record.facts.value_or(RunFacts());
  Json json;
  for (const char* key : {"results", "configs", "versions", "n-samples", "higher_is_better"}) {
    json[key] = Json::object();
  }
  if (record.facts) add_task(record, facts, json);
  json["config"] = config_json(facts);
  json["git_hash"] = member_text(record.tool, "git");
  json["date"] = seconds_of(record.started);
  json["pretty_env_info"] = environment_text(record);
  json["task_hashes"] = Json::object();
  if (const SplitFact* split = split_of(facts, "report")) json["task_hashes"][facts.task] = split->sha256;
  json["start_time"] = seconds_of(record.started);
  json["end_time"] = seconds_of(record.ended);
  json["total_evaluation_time_seconds"] = number_text(record.dur_s);
  json["pruning"] = pruning_json(record, agreement);
  add_splits(facts, json);
  json["failed_points"] = points_json(record);
  json["warnings"] = Json::array();
  for (const Warning& warning : record.warnings) {
    json["warnings"].push_back({{"code", warning.code}, {"message", warning.message}});
  }
  json["state"] = record.state();
  json["experiment_id"] = record.experiment_id;
  json["fingerprint"] = record.fingerprint.is_object() ? record.fingerprint : Json::object();
  json["mixed_fingerprint"] = record.mixed_fingerprint;
  json["schema_version"] = 1;
  return json;
}

Json without_times(Json results) {
  for (const char* key : {"date", "start_time", "end_time", "total_evaluation_time_seconds"}) results.erase(key);
  if (!results.contains("pruning")) return results;
  Json& pruning = results["pruning"];
  pruning.erase("timing");
  if (pruning.contains("cost")) {
    for (auto& [method, cost] : pruning["cost"].items()) cost.erase("seconds");
  }
  return results;
}

}  // namespace headprune
