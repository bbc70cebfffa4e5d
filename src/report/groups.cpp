#include "report/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "report/text_table.h"
#include "stats/curve.h"
#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {
namespace {

struct Place {
  size_t position;
  std::string label;
  auto operator<=>(const Place&) const = default;
};

/// Where a label stands in the configuration; unknown ones come last, by name.
Place place_of(const std::vector<std::string>& order, const std::string& label) {
  return {static_cast<size_t>(std::find(order.begin(), order.end(), label) - order.begin()), label};
}

std::vector<std::string> method_order(const Record& record) {
  std::vector<std::string> labels;
  if (!record.facts) return labels;
  for (const MethodFact& method : record.facts->methods) labels.push_back(method.label);
  return labels;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Values by seed, in the order of seeds.
using BySeed = std::map<int64_t, std::vector<double>>;

std::vector<double> seed_means(const BySeed& values) {
  std::vector<double> means;
  for (const auto& [seed, list] : values) means.push_back(mean(list));
  return means;
}

int64_t most_draws(const BySeed& values) {
  size_t most = 0;
  for (const auto& [seed, list] : values) most = std::max(most, list.size());
  return static_cast<int64_t>(most);
}

/// Mean and t interval: over seeds where there are several, else over the draws of the only one.
Estimate estimate_over(const BySeed& values) {
  return values.size() > 1 ? t_interval(seed_means(values)) : t_interval(values.begin()->second);
}

Difference difference_over(const BySeed& deltas) {
  const Estimate estimate = estimate_over(deltas);
  Difference difference;
  difference.delta = estimate.value;
  difference.stderr_ = estimate.stderr_;
  difference.ci95 = estimate.ci95;
  difference.test = "none";
  const auto k = static_cast<int64_t>(deltas.size());
  if (smallest_sign_flip_p(k) < kAlpha && std::isfinite(estimate.value)) {
    difference.p = sign_flip_p(seed_means(deltas), Random(0, "sign_flip"));
    difference.test = "sign_flip";
  }
  return difference;
}

void set_range(const BySeed& values, double& low, double& high) {
  low = high = values.begin()->second.front();
  for (const auto& [seed, list] : values) {
    for (const double value : list) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
}

/// Draws of one seed that ended in one mask and one value: one measurement, not several.
bool one_measurement(const std::vector<const PointResult*>& members, const BySeed& values) {
  if (members.size() == 1) return true;
  if (values.size() > 1) return false;
  const std::vector<double>& list = values.begin()->second;
  return std::all_of(members.begin(), members.end(),
                     [&](const PointResult* member) { return member->removed == members.front()->removed; }) &&
         std::all_of(list.begin(), list.end(), [&](double value) { return value == list.front(); });
}

std::optional<MetricSummary> summarize(const std::vector<const PointResult*>& members, const MetricResult& of_first) {
  MetricSummary summary;
  summary.name = of_first.name;
  BySeed values, deltas;
  for (const PointResult* member : members) {
    const MetricResult* metric = member->metric(of_first.name);
    if (metric == nullptr) return std::nullopt;
    values[member->spec.seed].push_back(metric->estimate.value);
    if (metric->difference) deltas[member->spec.seed].push_back(metric->difference->delta);
  }
  summary.seeds = seed_means(values);
  summary.draws = most_draws(values);
  set_range(values, summary.low, summary.high);
  if (one_measurement(members, values)) {
    summary.estimate = of_first.estimate;
    summary.over = "examples";
    summary.difference = of_first.difference;
    return summary;
  }
  summary.estimate = estimate_over(values);
  summary.estimate.n = of_first.estimate.n;
  summary.over = values.size() > 1 ? "seeds" : "draws";
  if (deltas.size() == values.size()) summary.difference = difference_over(deltas);
  return summary;
}

void finish(PointGroup& group) {
  std::stable_sort(group.members.begin(), group.members.end(), [](const PointResult* a, const PointResult* b) {
    return std::tuple(a->spec.seed, a->spec.draw.value_or(0)) < std::tuple(b->spec.seed, b->spec.draw.value_or(0));
  });
  for (const MetricResult& metric : group.first().metrics) {
    if (auto summary = summarize(group.members, metric)) group.metrics.push_back(std::move(*summary));
  }
}

}  // namespace

const MetricSummary* PointGroup::metric(const std::string& name) const {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const MetricSummary& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

std::string estimate_text(const Estimate& estimate) {
  if (!estimate.ci95) return value_text(estimate.value);
  return interval_text(estimate.value, (*estimate.ci95)[0], (*estimate.ci95)[1]);
}

std::vector<std::string> estimate_cells(const Estimate& estimate) {
  const auto& ci95 = estimate.ci95;
  return {value_text(estimate.value), estimate.stderr_ ? value_text(*estimate.stderr_) : "N/A",
          ci95 ? fmt::format("[{}, {}]", value_text((*ci95)[0]), value_text((*ci95)[1])) : "N/A"};
}

SurgerySummary surgery_summary(const Record& record) {
  SurgerySummary summary;
  for (const auto& [point, result] : record.surgery) {
    summary.worst =
        std::isnan(result.max_abs_diff) ? result.max_abs_diff : std::max(summary.worst, result.max_abs_diff);
    summary.tolerance = std::max(summary.tolerance, result.tolerance);
    summary.unequal += result.ok ? 0 : 1;
  }
  return summary;
}

bool is_random(const Record& record, const std::string& method) {
  if (record.facts) {
    for (const MethodFact& fact : record.facts->methods) {
      if (fact.label == method) return fact.type == "random";
    }
  }
  return method == "random";
}

std::vector<int64_t> recorded_seeds(const Record& record) {
  std::set<int64_t> seeds;
  for (const auto& [id, point] : record.points) seeds.insert(point.spec.seed);
  for (const auto& [key, score] : record.scores) seeds.insert(key.seed);
  return {seeds.begin(), seeds.end()};
}

std::string headline_metric(const Record& record) {
  if (record.facts && !record.facts->metrics.empty()) return record.facts->metrics.front().name;
  const std::optional<PointGroup> base = base_group(record);
  return base && !base->metrics.empty() ? base->metrics.front().name : "";
}

bool higher_is_better(const Record& record, const std::string& metric) {
  if (!record.facts) return true;
  for (const MetricFact& fact : record.facts->metrics) {
    if (fact.name == metric) return fact.higher_is_better;
  }
  return true;
}

std::string sensitivity_unit(const PointSpec& spec) {
  if (!spec.layer) return spec.kind;
  const BlockId block{parse_kind(spec.kind), *spec.layer};
  return spec.table == "leave_one_out" && spec.head ? to_string(HeadId{block, *spec.head}) : to_string(block);
}

std::optional<PointGroup> base_group(const Record& record, std::optional<int64_t> at_step) {
  PointGroup group;
  for (const auto& [id, point] : record.points) {
    if (point.spec.rule == "none" && point.spec.at_step == at_step) group.members.push_back(&point);
  }
  if (group.members.empty()) return std::nullopt;
  finish(group);
  return group;
}

std::optional<MetricSummary> base_metric(const Record& record, const std::string& metric,
                                         std::optional<int64_t> at_step) {
  const std::optional<PointGroup> base = base_group(record, at_step);
  const MetricSummary* summary = base ? base->metric(metric) : nullptr;
  return summary == nullptr ? std::nullopt : std::optional(*summary);
}

std::vector<int64_t> recorded_steps(const Record& record) {
  std::set<int64_t> steps;
  for (const auto& [id, point] : record.points) {
    if (point.spec.rule == "none" && point.spec.at_step) steps.insert(*point.spec.at_step);
  }
  return {steps.begin(), steps.end()};
}

std::vector<CurveGroup> curve_groups(const Record& record) {
  const std::vector<std::string> methods = method_order(record);
  const std::vector<std::string> sweeps = record.facts ? record.facts->sweeps : std::vector<std::string>();
  using Key = std::tuple<Place, Place, std::string, std::string, std::string, std::optional<int64_t>>;
  std::map<Key, std::map<int64_t, PointGroup>> found;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.sweep.empty()) continue;
    const Key key{
        place_of(sweeps, spec.sweep), place_of(methods, spec.method), spec.rule, point.scope, spec.kind, spec.at_step};
    found[key][spec.heads_removed].members.push_back(&point);
  }
  std::vector<CurveGroup> curves;
  for (auto& [key, points] : found) {
    const auto& [sweep, method, rule, scope, kind, at_step] = key;
    CurveGroup curve{.method = method.label,
                     .sweep = sweep.label,
                     .rule = rule,
                     .scope = scope,
                     .kind = kind,
                     .at_step = at_step,
                     .points = {}};
    for (auto& [removed, group] : points) {
      finish(group);
      curve.points.push_back(std::move(group));
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<PointGroup> sensitivity_groups(const Record& record) {
  const std::vector<std::string> methods = method_order(record);
  const std::vector<std::string> tables = record.facts ? record.facts->tables : std::vector<std::string>();
  using Key = std::tuple<Place, Place, int, int64_t, int64_t, int64_t>;
  std::map<Key, PointGroup> found;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.table.empty()) continue;
    // The head that all_but_one keeps is chosen anew for each seed.
    const int64_t head = spec.table == "all_but_one" ? -1 : spec.head.value_or(-1);
    const Key key{place_of(tables, spec.table),
                  place_of(methods, spec.method),
                  spec.kind == "all" ? -1 : static_cast<int>(parse_kind(spec.kind)),
                  spec.layer.value_or(-1),
                  head,
                  spec.heads_removed};
    found[key].members.push_back(&point);
  }
  const auto q = sensitivity_q(record);
  std::vector<PointGroup> groups;
  for (auto& [key, group] : found) {
    finish(group);
    for (MetricSummary& metric : group.metrics) {
      const auto own = q.find({group.first().point, metric.name});
      if (group.members.size() == 1 && own != q.end()) metric.q = own->second;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<AreaSummary> curve_areas(const CurveGroup& curve) {
  std::vector<AreaSummary> areas;
  for (const MetricSummary& metric : curve.points.front().metrics) {
    std::map<std::pair<int64_t, int64_t>, Curve> members;  // by seed and draw
    for (const PointGroup& group : curve.points) {
      for (const PointResult* point : group.members) {
        const MetricResult* result = point->metric(metric.name);
        if (result == nullptr) continue;
        members[{point->spec.seed, point->spec.draw.value_or(0)}].push_back({point->fraction, result->estimate.value});
      }
    }
    AreaSummary area;
    area.metric = metric.name;
    area.from = members.begin()->second.front().fraction;
    area.to = members.begin()->second.back().fraction;
    BySeed values;
    bool comparable = true;
    for (const auto& [member, points] : members) {
      const std::optional<double> value = curve_area(points);
      comparable = comparable && value && points.front().fraction == area.from && points.back().fraction == area.to;
      if (comparable) values[member.first].push_back(*value);
    }
    if (!comparable) continue;
    for (const auto& [seed, list] : values) area.seed_ids.push_back(seed);
    area.seeds = seed_means(values);
    area.draws = most_draws(values);
    set_range(values, area.low, area.high);
    area.estimate = t_interval(area.seeds);
    areas.push_back(std::move(area));
  }
  return areas;
}

std::optional<Estimate> area_minus_random(const AreaSummary& area, const AreaSummary& random) {
  if (area.seed_ids != random.seed_ids || area.from != random.from || area.to != random.to) return std::nullopt;
  std::vector<double> differences;
  for (size_t i = 0; i < area.seeds.size(); ++i) differences.push_back(area.seeds[i] - random.seeds[i]);
  return t_interval(differences);
}

std::map<std::pair<std::string, std::string>, double> sensitivity_q(const Record& record) {
  struct Family {
    std::vector<std::string> points;
    std::vector<double> p;
  };
  std::map<std::tuple<int64_t, std::string, std::string>, Family> families;  // seed, table, metric
  for (const auto& [id, point] : record.points) {
    if (point.spec.table.empty() || point.spec.heads_removed == 0) continue;
    for (const MetricResult& metric : point.metrics) {
      if (!metric.difference || !metric.difference->p) continue;
      Family& family = families[{point.spec.seed, point.spec.table, metric.name}];
      family.points.push_back(id);
      family.p.push_back(*metric.difference->p);
    }
  }
  std::map<std::pair<std::string, std::string>, double> all;
  for (const auto& [key, family] : families) {
    const std::vector<double> q = benjamini_hochberg(family.p);
    for (size_t i = 0; i < q.size(); ++i) all[{family.points[i], std::get<2>(key)}] = q[i];
  }
  return all;
}

}  // namespace headprune
