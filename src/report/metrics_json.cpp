// metrics.json and the spelling of metric keys.
#include <algorithm>
#include <cmath>

#include "report/groups.h"
#include "report/results_json.h"

namespace headprune {
namespace {

/// Top-k has one key a pair: at half of the heads, the k that every run has.
bool has_key(const AgreementRow& row) {
  return row.comparison == "methods" && row.kind == "all" && (!row.k || *row.k == (row.n + 1) / 2);
}

void add_sensitivity(const Record& record, std::map<std::string, double>& values) {
  for (const PointGroup& group : sensitivity_groups(record)) {
    const PointSpec& spec = group.first().spec;
    const std::string fraction =
        spec.method.empty() ? "" : fraction_text(spec.heads_removed, group.first().heads_total);
    for (const MetricSummary& metric : group.metrics) {
      values[metric_key({"sensitivity", spec.table, sensitivity_unit(spec), spec.method, fraction, metric.name})] =
          metric.estimate.value;
    }
  }
}

}  // namespace

std::string metric_key(const std::vector<std::string>& parts) {
  std::string key;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!key.empty()) key += '/';
    for (const char c : part) {
      const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                         c == '.' || c == '-';
      key += plain ? c : '_';
    }
  }
  return key;
}

std::string fraction_text(int64_t heads_removed, int64_t heads_total) {
  const double fraction =
      heads_total == 0 ? 0.0 : static_cast<double>(heads_removed) / static_cast<double>(heads_total);
  std::string text = fmt::format("{:.6f}", fraction);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Json metrics_json(const Record& record, const std::vector<AgreementRow>& agreement) {
  std::map<std::string, double> values;  // sorted by key
  if (const std::optional<PointGroup> base = base_group(record)) {
    for (const MetricSummary& metric : base->metrics) values[metric_key({"base", metric.name})] = metric.estimate.value;
  }
  for (const CurveGroup& curve : curve_groups(record)) {
    for (const PointGroup& point : curve.points) {
      const std::string fraction = fraction_text(point.first().spec.heads_removed, point.first().heads_total);
      for (const MetricSummary& metric : point.metrics) {
        values[metric_key({"curve", curve.method, curve.sweep, fraction, metric.name})] = metric.estimate.value;
      }
    }
    for (const AreaSummary& area : curve_areas(curve)) {
      values[metric_key({"auc", curve.method, curve.sweep, area.metric})] = area.estimate.value;
    }
  }
  add_sensitivity(record, values);
  for (const AgreementGroup& group : agreement_groups(agreement)) {
    const AgreementRow& row = group.first;
    if (!has_key(row) || group.values.empty()) continue;
    values[metric_key({"agreement", row.method_a, row.method_b, row.statistic})] = group.mean;
  }
  for (const auto& [point, result] : record.surgery) {
    double& worst = values.try_emplace("surgery/max_abs_diff", result.max_abs_diff).first->second;
    // A NaN difference must not hide behind a finite one.
    if (!(result.max_abs_diff <= worst)) worst = result.max_abs_diff;
  }
  Json json = Json::object();
  for (const auto& [key, value] : values) {
    if (std::isfinite(value)) json[key] = value;
  }
  return json;
}

}  // namespace headprune
