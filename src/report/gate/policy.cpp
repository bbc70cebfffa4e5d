#include "report/gate/policy.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/numbers/keyed_metrics.h"

namespace headprune {
namespace {

const std::vector<std::string> kToleranceKeys = {"direction", "abs", "rel", "exact", "exclude"};

bool is_pattern(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string("_./*-").find(c) != std::string::npos;
  });
}

double read_size(const Json& json, const std::string& where) {
  if (!json.is_number()) fail(ExitCode::usage, "{} must be a number", where);
  const double value = json.get<double>();
  if (!std::isfinite(value) || value < 0) fail(ExitCode::usage, "{} must be at least 0, not {}", where, value);
  return value;
}

Tolerance read_tolerance(const Json& json, const std::string& where, const std::string& direction) {
  if (!json.is_object()) fail(ExitCode::usage, "{} must be an object", where);
  Tolerance tolerance;
  tolerance.direction = direction;
  for (const auto& [key, value] : json.items()) {
    const std::string at = fmt::format("{}: {}", where, key);
    if (key == "abs") {
      tolerance.abs = read_size(value, at);
    } else if (key == "rel") {
      tolerance.rel = read_size(value, at);
    } else if (key == "direction") {
      if (value != "auto" && value != "higher" && value != "lower")
        fail(ExitCode::usage, "{} must be auto, higher or lower", at);
      tolerance.direction = value.get<std::string>();
    } else if (key == "exact" || key == "exclude") {
      if (!value.is_boolean()) fail(ExitCode::usage, "{} must be true or false", at);
      (key == "exact" ? tolerance.exact : tolerance.exclude) = value.get<bool>();
    } else {
      const std::optional<std::string> meant = nearest(key, kToleranceKeys);
      fail(ExitCode::usage, "{}: unknown key '{}'; {}", where, key,
           meant ? fmt::format("did you mean '{}'?", *meant) : "known are " + join(kToleranceKeys, ", "));
    }
  }
  if (tolerance.exact && (tolerance.abs > 0 || tolerance.rel > 0))
    fail(ExitCode::usage, "{}: exact allows no difference, so abs and rel do not apply", where);
  return tolerance;
}

Json tolerance_json(const Tolerance& tolerance) {
  Json json = Json::object();
  if (tolerance.direction != "auto") json["direction"] = tolerance.direction;
  if (tolerance.exclude) {
    json["exclude"] = true;
    return json;
  }
  if (tolerance.exact) {
    json["exact"] = true;
    return json;
  }
  if (tolerance.abs > 0 || tolerance.rel == 0) json["abs"] = tolerance.abs;
  if (tolerance.rel > 0) json["rel"] = tolerance.rel;
  return json;
}

}  // namespace

double Tolerance::allowed(double base) const { return exact ? 0 : std::max(abs, rel * std::abs(base)); }

bool pattern_matches(const std::string& pattern, const std::string& text) {
  size_t p = 0, t = 0, star = std::string::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

const Tolerance& Policy::of(const std::string& key, const std::vector<PolicyRule>& first) const {
  const std::string metric = metric_of_key(key);
  const auto matches = [&](const std::string& pattern) {
    return pattern_matches(pattern, key) || pattern_matches(pattern, metric);
  };
  const auto rule = std::find_if(first.rbegin(), first.rend(), [&](const auto& one) { return matches(one.pattern); });
  if (rule != first.rend()) return rule->tolerance;
  const Tolerance* found = &fallback;
  size_t length = 0;
  for (const auto& [pattern, tolerance] : metrics) {
    if (pattern.size() <= length || !matches(pattern)) continue;
    found = &tolerance;
    length = pattern.size();
  }
  return *found;
}

Json Policy::to_json() const {
  Json json;
  json["default"] = {{"direction", fallback.direction}, {"abs", fallback.abs}, {"rel", fallback.rel}};
  if (fallback.exact) json["default"] = tolerance_json(fallback);
  json["metrics"] = Json::object();
  for (const auto& [pattern, tolerance] : metrics) json["metrics"][pattern] = tolerance_json(tolerance);
  return json;
}

Policy Policy::from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) fail(ExitCode::usage, "{}: policy must be an object", where);
  Policy policy;
  for (const auto& [key, value] : json.items()) {
    if (key != "default" && key != "metrics")
      fail(ExitCode::usage, "{}: policy: unknown key '{}'; known are default and metrics", where, key);
  }
  if (json.contains("default")) policy.fallback = read_tolerance(json["default"], where + ": policy: default", "auto");
  if (policy.fallback.exclude)
    fail(ExitCode::usage, "{}: policy: default cannot exclude: nothing would be compared", where);
  if (!json.contains("metrics")) return policy;
  if (!json["metrics"].is_object()) fail(ExitCode::usage, "{}: policy: metrics must be an object", where);
  for (const auto& [pattern, value] : json["metrics"].items()) {
    if (!is_pattern(pattern))
      fail(ExitCode::usage, "{}: policy: '{}' is no pattern: write a metric, a key, or either with *", where, pattern);
    policy.metrics[pattern] =
        read_tolerance(value, fmt::format("{}: policy: {}", where, pattern), policy.fallback.direction);
  }
  return policy;
}

PolicyRule parse_policy_rule(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string pattern = text.substr(0, colon == std::string::npos ? 0 : colon);
  if (!is_pattern(pattern))
    fail(ExitCode::usage, "--policy {}: write METRIC:TOLERANCE, for example accuracy:0.02 or accuracy:2%", text);
  std::string number = text.substr(colon + 1);
  const bool percent = !number.empty() && number.back() == '%';
  if (percent) number.pop_back();
  const double value = parse_number(number).value_or(-1);
  if (value < 0)
    fail(ExitCode::usage, "--policy {}: the tolerance must be a number of at least 0, for example 0.02 or 2%", text);
  PolicyRule rule{pattern, {}};
  (percent ? rule.tolerance.rel : rule.tolerance.abs) = percent ? value / 100 : value;
  return rule;
}

}  // namespace headprune
