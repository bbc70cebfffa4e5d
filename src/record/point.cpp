#include "record/point.h"

#include <cmath>

#include "core/hash.h"
#include "core/text.h"
#include "record/events.h"
#include "record/json_fields.h"

namespace headprune {
namespace {

Json interval_json(const std::array<double, 2>& interval) {
  return Json::array({measurement_json(interval[0]), measurement_json(interval[1])});
}

std::optional<double> optional_measurement(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return std::nullopt;
  return read_measurement(*found);
}

std::optional<std::array<double, 2>> optional_interval(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return std::nullopt;
  if (!found->is_array() || found->size() != 2) fail(ExitCode::run_failed, "the field '{}' is not an interval", key);
  return std::array<double, 2>{read_measurement((*found)[0]), read_measurement((*found)[1])};
}

Json metric_json(const MetricResult& metric, int64_t point_n) {
  Json json = Json::object();
  const Estimate& estimate = metric.estimate;
  if (std::isfinite(estimate.value)) {
    json["value"] = estimate.value;
  } else {
    json = measurement_json(estimate.value);
  }
  if (estimate.stderr_) json["stderr"] = measurement_json(*estimate.stderr_);
  if (estimate.ci95) json["ci95"] = interval_json(*estimate.ci95);
  write_text(json, "interval", estimate.interval);
  if (estimate.n != point_n) json["n"] = estimate.n;
  if (!metric.difference) return json;
  const Difference& difference = *metric.difference;
  json["delta"] = measurement_json(difference.delta);
  if (difference.stderr_) json["delta_stderr"] = measurement_json(*difference.stderr_);
  if (difference.ci95) json["delta_ci95"] = interval_json(*difference.ci95);
  if (difference.p) json["p"] = measurement_json(*difference.p);
  write_text(json, "test", difference.test);
  return json;
}

MetricResult read_metric(const std::string& name, const Json& json, int64_t point_n) {
  MetricResult metric;
  metric.name = name;
  const Json& value = read_member(json, "value");
  metric.estimate.value = read_measurement(value.is_null() ? json : value);
  metric.estimate.n = read_or<int64_t>(json, "n", point_n);
  metric.estimate.stderr_ = optional_measurement(json, "stderr");
  metric.estimate.ci95 = optional_interval(json, "ci95");
  metric.estimate.interval = read_or<std::string>(json, "interval", "");
  if (!json.contains("delta")) return metric;
  Difference difference;
  difference.delta = read_measurement(json.at("delta"));
  difference.stderr_ = optional_measurement(json, "delta_stderr");
  difference.ci95 = optional_interval(json, "delta_ci95");
  difference.p = optional_measurement(json, "p");
  difference.test = read_or<std::string>(json, "test", "");
  metric.difference = difference;
  return metric;
}

/// "all", or kinds joined by '+'; empty where the point is about none.
std::string read_kinds(const Json& json) {
  std::string kinds = read_or<std::string>(json, "kind", "");
  if (!kinds.empty() && kinds != "all")
    for (const std::string_view kind : split(kinds, '+')) parse_kind(std::string(kind));
  return kinds;
}

}  // namespace

Json PointSpec::to_json() const {
  Json json = {{"seed", seed}};
  write_text(json, "method", method);
  write_optional(json, "draw", draw);
  write_text(json, "sweep", sweep);
  write_text(json, "rule", rule);
  write_optional(json, "at_step", at_step);
  write_text(json, "table", table);
  write_text(json, "kind", kind);
  write_optional(json, "layer", layer);
  write_optional(json, "head", head);
  write_optional(json, "group", group);
  if (rule != "none") json["heads_removed"] = heads_removed;
  write_text(json, "name", name);
  write_text(json, "mask", mask);
  write_optional(json, "control_steps", control_steps);
  write_optional(json, "lambda", lambda);
  return json;
}

PointSpec PointSpec::identity() const {
  PointSpec same = *this;
  if (lambda) same.heads_removed = 0;
  return same;
}

PointSpec PointSpec::from_json(const Json& json) {
  PointSpec spec;
  spec.seed = read_field<int64_t>(json, "seed");
  spec.method = read_or<std::string>(json, "method", "");
  spec.draw = read_optional<int64_t>(json, "draw");
  spec.sweep = read_or<std::string>(json, "sweep", "");
  require_label(spec.method, "method");
  require_label(spec.sweep, "sweep");
  spec.rule = read_or<std::string>(json, "rule", "");
  spec.at_step = read_optional<int64_t>(json, "at_step");
  spec.table = read_or<std::string>(json, "table", "");
  spec.kind = read_kinds(json);
  spec.layer = read_optional<int64_t>(json, "layer");
  spec.head = read_optional<int64_t>(json, "head");
  spec.group = read_optional<int64_t>(json, "group");
  if (spec.rule != "none") spec.heads_removed = read_count(json, "heads_removed");
  for (const std::optional<int64_t>& index : {spec.layer, spec.head, spec.group})
    if (index && *index < 0) fail(ExitCode::run_failed, "the point of a layer, head or group below 0");
  spec.name = read_or<std::string>(json, "name", "");
  spec.mask = read_or<std::string>(json, "mask", "");
  spec.control_steps = read_optional<int64_t>(json, "control_steps");
  spec.lambda = read_optional<double>(json, "lambda");
  return spec;
}

Shown PointSpec::shown() const {
  if (head || group) return Shown::heads;
  return method.empty() ? Shown::blocks : Shown::fractions;
}

std::string point_id(const std::string& experiment_id, const PointSpec& spec) {
  Json json = spec.identity().to_json();
  json["experiment"] = experiment_id;
  return sha256(canonical_json(json)).substr(0, 16);
}

const MetricResult* PointResult::metric(const std::string& name) const {
  for (const MetricResult& result : metrics) {
    if (result.name == name) return &result;
  }
  return nullptr;
}

Json PointResult::to_json() const {
  Json json = {{"point", point}, {"spec", spec.to_json()}, {"step", step}};
  write_text(json, "scope", scope);
  json["fraction"] = fraction;
  json["heads_total"] = heads_total;
  if (!fixed.empty()) json["fixed"] = fixed.to_json();
  json["removed"] = removed.to_json();
  if (fine_tuned) json["fine_tuned"] = true;
  write_text(json, "weights", weights);
  write_text(json, "weights_manifest_sha256", weights_manifest_sha256);
  json["mask_sha256"] = mask;
  json["params"] = params;
  json["attention_flops_per_token"] = attention_flops_per_token;
  write_optional(json, "kv_cache_bytes_per_token", kv_cache_bytes_per_token);
  json["forward"] = forward;
  json["backward"] = backward;
  json["split"] = split;
  const int64_t n = metrics.empty() ? 0 : metrics.front().estimate.n;
  if (same_as.empty()) json["n"] = n;
  json["dur_s"] = dur_s;
  if (same_as.empty()) {
    json["metrics"] = Json::object();
    for (const MetricResult& metric_result : metrics) {
      json["metrics"][metric_result.name] = metric_json(metric_result, n);
    }
  } else {
    json["same_as"] = same_as;
  }
  write_text(json, "samples_sha256", samples_sha256);
  if (same_as.empty()) write_text(json, "examples_sha256", examples_sha256);
  return json;
}

PointResult PointResult::from_json(const Json& json) {
  PointResult result;
  result.point = read_field<std::string>(json, "point");
  result.spec = PointSpec::from_json(read_object(json, "spec"));
  result.step = read_field<int64_t>(json, "step");
  result.scope = read_or<std::string>(json, "scope", "");
  result.fraction = read_field<double>(json, "fraction");
  result.heads_total = read_count(json, "heads_total");
  if (!(result.fraction >= 0 && result.fraction <= 1) || result.spec.heads_removed > result.heads_total)
    fail(ExitCode::run_failed, "the point has {} of {} heads removed and the fraction {}", result.spec.heads_removed,
         result.heads_total, result.fraction);
  if (json.contains("fixed")) result.fixed = HeadSet::from_json(read_object(json, "fixed"));
  result.removed = HeadSet::from_json(read_object(json, "removed"));
  result.fine_tuned = read_or<bool>(json, "fine_tuned", false);
  result.weights = read_or<std::string>(json, "weights", "");
  result.weights_manifest_sha256 = read_or<std::string>(json, "weights_manifest_sha256", "");
  result.mask = read_field<std::string>(json, "mask_sha256");
  result.params = read_field<int64_t>(json, "params");
  result.attention_flops_per_token = read_field<int64_t>(json, "attention_flops_per_token");
  result.kv_cache_bytes_per_token = read_optional<int64_t>(json, "kv_cache_bytes_per_token");
  result.forward = read_field<int64_t>(json, "forward");
  result.backward = read_field<int64_t>(json, "backward");
  result.split = read_field<std::string>(json, "split");
  result.dur_s = read_field<double>(json, "dur_s");
  result.same_as = read_or<std::string>(json, "same_as", "");
  result.samples_sha256 = read_or<std::string>(json, "samples_sha256", "");
  result.examples_sha256 = read_or<std::string>(json, "examples_sha256", "");
  if (!result.same_as.empty()) return result;
  const int64_t n = read_count(json, "n");
  const Json& metrics = read_object(json, "metrics");
  for (const auto& [name, metric] : metrics.items()) result.metrics.push_back(read_metric(name, metric, n));
  return result;
}

}  // namespace headprune
