#include "report/numbers/keyed_metrics.h"

#include <fmt/format.h>

#include <set>

#include "report/numbers/agreement_rows.h"
#include "report/numbers/areas.h"
#include "report/numbers/sweeps.h"

namespace headprune {
namespace {

using KeyedMetrics = std::map<std::string, KeyedMetric>;

/// Top-k has one key a pair: at half of the heads, the k that every run has.
bool has_key(const AgreementRow& row) {
  return row.comparison == "methods" && row.kind == "all" && (!row.k || *row.k == (row.n + 1) / 2);
}

/// Of a key, where seeds are other models: head 3 of one is not head 3 of another.
std::string seed_part(const std::optional<int64_t>& seed) { return seed ? fmt::format("seed_{}", *seed) : ""; }

KeyedMetric keyed(const Record& record, const PointGroup& group, const MetricSummary& metric) {
  KeyedMetric one{metric.estimate.value, metric.estimate.stderr_, metric.estimate.n, metric.seeds};
  for (const PointResult* member : group.members) {
    const std::string mask = member->evaluated().empty() ? member->point : member->evaluated();
    one.of += fmt::format("{} {} {};", member->spec.seed, member->spec.at_step.value_or(-1), mask);
  }
  for (const PointResult* member : group.members)
    if (auto measured = measured_value(record, *member, metric.name)) one.members.push_back(std::move(*measured));
  const PointSpec& spec = group.first().spec;
  one.one_order = group.members.size() == 1 && is_random(record, spec.method) && spec.heads_removed > 0 &&
                  spec.heads_removed < group.first().heads_total;
  return one;
}

void add_curves(const Record& record, KeyedMetrics& all) {
  for (const CurveGroup& curve : curve_groups(record)) {
    int64_t n = 0;
    for (const PointGroup& point : curve.points) {
      const std::string fraction = fraction_text(point.first().spec.heads_removed, point.first().heads_total);
      for (const MetricSummary& metric : point.metrics) {
        KeyedMetric& one =
            all[metric_key({"curve", curve.method, curve.sweep, seed_part(curve.seed), fraction, metric.name})];
        one = keyed(record, point, metric);
        one.of_head = curve.method.empty();  // an order of head ids
        n = metric.estimate.n;
      }
    }
    for (const AreaSummary& area : curve_areas(record, curve)) {
      KeyedMetric& one = all[metric_key({"auc", curve.method, curve.sweep, seed_part(curve.seed), area.metric})];
      one = {area.estimate.value,    area.estimate.stderr_,    n,
             area.repetitions.seeds, area.repetitions.members, range_text(area)};
      one.one_order = one_random_order(record, curve);
      one.of_head = curve.method.empty();
    }
  }
  std::set<std::string> sweeps;
  for (const auto& [id, point] : record.points)
    if (point.spec.control_steps) sweeps.insert(point.spec.sweep);
  for (const std::string& sweep : sweeps)
    for (const PointGroup& point : control_groups(record, sweep))
      for (const MetricSummary& metric : point.metrics)
        all[metric_key({"control", sweep, fmt::format("steps_{}", *point.first().spec.control_steps), metric.name})] =
            keyed(record, point, metric);
  for (const MaskList& list : mask_lists(record))
    for (const PointGroup& point : list.points)
      for (const MetricSummary& metric : point.metrics) {
        KeyedMetric& one =
            all[metric_key({"mask", list.sweep, seed_part(list.seed), point.first().spec.name, metric.name})];
        one = keyed(record, point, metric);
        one.of_head = true;
      }
}

void add_sensitivity(const Record& record, KeyedMetrics& all) {
  for (const PointGroup& group : sensitivity_groups(record)) {
    const PointSpec& spec = group.first().spec;
    const std::string fraction =
        spec.method.empty() ? "" : fraction_text(spec.heads_removed, group.first().heads_total);
    for (const MetricSummary& metric : group.metrics) {
      KeyedMetric& one = all[metric_key({"sensitivity", spec.table, seed_part(group.seed), sensitivity_unit(spec),
                                         spec.method, fraction, metric.name})];
      one = keyed(record, group, metric);
      one.of_head = spec.shown() == Shown::heads;
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

std::map<std::string, KeyedMetric> keyed_metrics(const Record& record, const std::vector<AgreementRow>& agreement) {
  KeyedMetrics all;
  if (const std::optional<PointGroup> base = base_group(record)) {
    for (const MetricSummary& metric : base->metrics)
      all[metric_key({"base", metric.name})] = keyed(record, *base, metric);
  }
  for (const int64_t step : recorded_steps(record)) {
    const PointGroup base = *base_group(record, step);
    for (const MetricSummary& metric : base.metrics)
      all[metric_key({"base", fmt::format("step_{}", step), metric.name})] = keyed(record, base, metric);
  }
  add_curves(record, all);
  add_sensitivity(record, all);
  for (const AgreementGroup& group : agreement_groups(agreement)) {
    const AgreementRow& row = group.first;
    if (!has_key(row) || group.values.empty()) continue;
    all[metric_key({"agreement", row.method_a, row.method_b, row.statistic})] = {group.mean, std::nullopt, row.n,
                                                                                 group.values};
  }
  if (record.surgery.empty()) return all;
  KeyedMetric surgery;
  surgery.value = record.surgery.begin()->second.max_abs_diff;
  surgery.n = static_cast<int64_t>(record.surgery.size());
  for (const auto& [point, result] : record.surgery) {
    // A NaN difference must not hide behind a finite one.
    if (!(result.max_abs_diff <= surgery.value)) surgery.value = result.max_abs_diff;
  }
  all["surgery/max_abs_diff"] = surgery;
  return all;
}

std::string metric_of_key(const std::string& key) {
  const size_t slash = key.rfind('/');
  return slash == std::string::npos ? key : key.substr(slash + 1);
}

const char* to_string(Better better) {
  switch (better) {
    case Better::higher:
      return "higher";
    case Better::lower:
      return "lower";
    case Better::either:
      return "either";
  }
  return "";
}

Better better_side(const Record& record, const std::string& key) {
  if (key.rfind("agreement/", 0) == 0) return Better::either;
  if (key.rfind("surgery/", 0) == 0) return Better::lower;
  return higher_is_better(record, metric_of_key(key)) ? Better::higher : Better::lower;
}

}  // namespace headprune
