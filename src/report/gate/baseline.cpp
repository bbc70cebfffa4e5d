#include "report/gate/baseline.h"

#include <algorithm>
#include <cmath>

#include "core/hash.h"
#include "core/text.h"
#include "report/numbers/keyed_metrics.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

constexpr int64_t kBaselineSchema = 1;
const std::vector<std::string> kBaselineKeys = {"schema_version", "name",        "created",      "tool",
                                                "experiment_id",  "data_sha256", "model_sha256", "fingerprint",
                                                "policy",         "metrics",     "history"};

/// A member of an object with errors that say where it is.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail(ExitCode::usage, "{} must be an object", where_);
  }
  void only(const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      const std::optional<std::string> meant = nearest(key, keys);
      fail(ExitCode::usage, "{}: unknown key '{}'; {}", where_, key,
           meant ? fmt::format("did you mean '{}'?", *meant) : "known are " + join(keys, ", "));
    }
  }
  template <class T>
  T get(const char* key) const {
    if (!json_.contains(key)) fail(ExitCode::usage, "{}: the key '{}' is missing", where_, key);
    try {
      return json_.at(key).template get<T>();
    } catch (const nlohmann::json::exception&) {
      fail(ExitCode::usage, "{}: the key '{}' has a value of the wrong type", where_, key);
    }
  }
  template <class T>
  std::optional<T> find(const char* key) const {
    if (!json_.contains(key) || json_.at(key).is_null()) return std::nullopt;
    return get<T>(key);
  }
  std::string place(const std::string& below) const { return fmt::format("{}: {}", where_, below); }

 private:
  const Json& json_;
  std::string where_;
};

bool is_metric_key(const std::string& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string("_./-").find(c) != std::string::npos;
  });
}

KeyedMetric read_metric(const Json& json, const std::string& where) {
  const Reader reader(json, where);
  reader.only({"value", "stderr", "n", "seeds"});
  if (!json.contains("value") || !json["value"].is_number() || !std::isfinite(json["value"].get<double>()))
    fail(ExitCode::usage, "{}: value must be a finite number", where);
  KeyedMetric metric;
  metric.value = reader.get<double>("value");
  metric.stderr_ = reader.find<double>("stderr");
  metric.n = reader.find<int64_t>("n").value_or(0);
  metric.seeds = reader.find<std::vector<double>>("seeds").value_or(std::vector<double>());
  return metric;
}

/// The line on which each metric stands: the file has one a line, and an edited one may have not.
std::map<std::string, int64_t> metric_lines(const std::string& text, const std::map<std::string, KeyedMetric>& all) {
  std::map<std::string, int64_t> lines;
  int64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view trimmed = trim(line);
    if (trimmed.empty() || trimmed.front() != '"') continue;
    const std::string key(trimmed.substr(1, trimmed.find('"', 1) - 1));
    if (all.contains(key)) lines.try_emplace(key, number);
  }
  return lines;
}

Json metric_json(const KeyedMetric& metric) {
  Json json;
  json["value"] = metric.value;
  json["stderr"] = metric.stderr_ && std::isfinite(*metric.stderr_) ? Json(*metric.stderr_) : Json(nullptr);
  json["n"] = metric.n;
  json["seeds"] = metric.seeds;
  return json;
}

Json change_json(const BaselineChange& change) {
  return {{"date", change.date},
          {"reason", change.reason},
          {"by", change.by},
          {"prev_sha256", change.prev_sha256 ? Json(*change.prev_sha256) : Json(nullptr)}};
}

void append_lines(std::string& out, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size(); ++i) out += '\n' + lines[i] + (i + 1 < lines.size() ? "," : "");
}

std::string tolerance_text(const Tolerance& tolerance, double base) {
  if (tolerance.exclude) return "excluded";
  if (tolerance.exact) return "exact";
  return value_text(tolerance.allowed(base));
}

}  // namespace

std::map<std::string, std::string> data_digests(const Record& record) {
  std::map<std::string, std::string> digests;
  if (!record.facts) return digests;
  for (const SplitFact& part : record.facts->splits) digests[part.role] = part.sha256;
  return digests;
}

std::optional<std::string> loaded_model_digest(const Record& record) {
  if (!record.facts || record.facts->model_sha256.empty()) return std::nullopt;
  return record.facts->model_sha256;
}

std::string Baseline::text() const {
  Json head;
  head["schema_version"] = kBaselineSchema;
  head["name"] = name;
  head["created"] = created;
  head["tool"] = tool;
  head["experiment_id"] = experiment_id;
  head["data_sha256"] = data_sha256;
  head["model_sha256"] = model_sha256 ? Json(*model_sha256) : Json(nullptr);
  head["fingerprint"] = fingerprint;
  std::string out = dump_json(head);
  out.pop_back();  // its closing brace
  out += ",\n \"policy\":" + dump_json(policy.to_json()) + ",\n \"metrics\":{";
  std::vector<std::string> rows;
  for (const auto& [key, metric] : metrics) rows.push_back(dump_json(key) + ":" + dump_json(metric_json(metric)));
  append_lines(out, rows);
  out += "\n },\"history\":[";
  rows.clear();
  for (const BaselineChange& change : history) rows.push_back(dump_json(change_json(change)));
  append_lines(out, rows);
  return out + "\n ]}\n";
}

Baseline parse_baseline(const std::string& text, const std::string& where) {
  Json json;
  try {
    json = parse_json(text, where);
  } catch (const Error& error) {
    throw Error(ExitCode::usage, error.what());
  }
  const Reader reader(json, where);
  const int64_t schema = reader.get<int64_t>("schema_version");
  if (schema > kBaselineSchema)
    fail(ExitCode::usage, "{}: schema_version {} needs a newer headprune: this one reads up to {}", where, schema,
         kBaselineSchema);
  if (schema != kBaselineSchema) fail(ExitCode::usage, "{}: schema_version {} is not known", where, schema);
  reader.only(kBaselineKeys);
  Baseline baseline;
  baseline.name = reader.get<std::string>("name");
  baseline.created = reader.find<std::string>("created").value_or("");
  baseline.tool = reader.find<std::string>("tool").value_or("");
  baseline.experiment_id = reader.get<std::string>("experiment_id");
  baseline.data_sha256 =
      reader.find<std::map<std::string, std::string>>("data_sha256").value_or(std::map<std::string, std::string>());
  baseline.model_sha256 = reader.find<std::string>("model_sha256");
  if (baseline.model_sha256 == "") baseline.model_sha256.reset();  // an earlier version had no digest of loaded models
  baseline.fingerprint = reader.get<Json>("fingerprint");
  if (!baseline.fingerprint.is_object()) fail(ExitCode::usage, "{}: fingerprint must be an object", where);
  if (json.contains("policy")) baseline.policy = Policy::from_json(json["policy"], where);
  const Json metrics = reader.get<Json>("metrics");
  if (!metrics.is_object()) fail(ExitCode::usage, "{}: metrics must be an object", where);
  for (const auto& [key, value] : metrics.items()) {
    if (!is_metric_key(key)) fail(ExitCode::usage, "{}: '{}' is no metric key", where, key);
    baseline.metrics[key] = read_metric(value, reader.place(key));
  }
  for (const Json& change : reader.find<Json>("history").value_or(Json::array())) {
    const Reader entry(change, reader.place("history"));
    entry.only({"date", "reason", "by", "prev_sha256"});
    baseline.history.push_back({entry.get<std::string>("date"), entry.get<std::string>("reason"),
                                entry.get<std::string>("by"), entry.find<std::string>("prev_sha256")});
  }
  baseline.lines = metric_lines(text, baseline.metrics);
  return baseline;
}

Baseline make_baseline(const Record& record, const BaselineUpdate& update, const std::string& before) {
  if (trim(update.reason).empty())
    fail(ExitCode::usage, "a baseline needs a reason: say with --reason why the expected values are right");
  if (record.state() != "completed")
    fail(ExitCode::usage, "the run is not completed (state \"{}\"), so it can be no baseline: finish it first",
         record.state());
  if (record.tool.is_object() && record.tool.value("dirty", false))
    fail(ExitCode::usage,
         "the run was made by a headprune built from uncommitted changes ({}): commit, build and run again, so that "
         "the baseline names sources that exist",
         member_text(record.tool, "git"));
  Baseline baseline;
  std::optional<std::string> previous;
  if (!before.empty()) {
    Baseline old = parse_baseline(before, "the baseline to be replaced");
    baseline.policy = std::move(old.policy);
    baseline.history = std::move(old.history);
    previous = sha256(before);
  }
  baseline.name = update.name;
  baseline.created = update.now;
  baseline.tool =
      fmt::format("headprune {} ({})", member_text(record.tool, "version"), member_text(record.tool, "git"));
  baseline.experiment_id = record.experiment_id;
  baseline.data_sha256 = data_digests(record);
  baseline.model_sha256 = loaded_model_digest(record);
  if (record.fingerprint.is_object()) baseline.fingerprint = record.fingerprint;
  baseline.metrics = keyed_metrics(record, agreement_rows(record, /*with_p=*/false));
  if (baseline.metrics.empty()) fail(ExitCode::usage, "the run has no metrics, so it can be no baseline");
  for (auto& [key, metric] : baseline.metrics) {
    const bool finite = std::isfinite(metric.value) && std::all_of(metric.seeds.begin(), metric.seeds.end(),
                                                                   [](double value) { return std::isfinite(value); });
    if (!finite) fail(ExitCode::usage, "{} is not a finite number in this run, so the run can be no baseline", key);
  }
  baseline.history.push_back({update.now, update.reason, update.by, previous});
  return baseline;
}

std::string baseline_text(const Baseline& baseline, size_t width) {
  std::string out = fmt::format("{}: {} metrics, made {} by {}\n  experiment {}\n", baseline.name,
                                baseline.metrics.size(), baseline.created, baseline.tool, baseline.experiment_id);
  std::vector<std::string> parts;
  for (const auto& [key, value] : baseline.fingerprint.items())
    parts.push_back(fmt::format("{} {}", key, member_text(baseline.fingerprint, key.c_str())));
  out += wrapped("fingerprint: " + join(parts, ", "), width, 2);
  out += "\nAllowed moves for the worse, in each metric's units\n";
  TextRows rows = {{"key", "value", "seeds", "allowed"}};
  for (const auto& [key, metric] : baseline.metrics) {
    rows.push_back({key, value_text(metric.value), std::to_string(metric.seeds.size()),
                    tolerance_text(baseline.policy.of(key, {}), metric.value)});
  }
  out += text_table(rows, {width, 2, 4, 0, 1});
  if (!baseline.history.empty()) out += "\nHistory\n";
  for (const BaselineChange& change : baseline.history)
    out += wrapped(fmt::format("{} {}: {}", change.date, change.by, change.reason), width, 2);
  return out;
}

Policy calibrated_policy(const std::vector<std::map<std::string, KeyedMetric>>& runs) {
  if (runs.size() < 2) fail(ExitCode::usage, "a spread needs at least 2 runs");
  std::map<std::string, double> spreads;  // by metric
  for (const auto& [key, metric] : runs.front()) {
    double low = metric.value, high = metric.value;
    for (const auto& run : runs) {
      const auto found = run.find(key);
      if (found == run.end() || !std::isfinite(found->second.value) || run.size() != runs.front().size())
        fail(ExitCode::usage, "the runs do not agree on {}: one of them lacks it or has no finite value", key);
      low = std::min(low, found->second.value);
      high = std::max(high, found->second.value);
    }
    double& spread = spreads[metric_of_key(key)];
    spread = std::max(spread, high - low);
  }
  Policy policy;
  for (const auto& [metric, spread] : spreads) {
    if (spread > 0) policy.metrics[metric].abs = 2 * spread;
  }
  return policy;
}

}  // namespace headprune
