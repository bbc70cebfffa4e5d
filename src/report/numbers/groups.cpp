#include "report/numbers/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/text.h"
#include "report/numbers/repetitions.h"
#include "report/text/text_table.h"
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

void set_range(const std::vector<Measurement>& members, MetricSummary& summary) {
  std::map<int64_t, int64_t> draws;
  summary.low = summary.high = members.front().value;
  for (const Measurement& member : members) {
    summary.low = std::min(summary.low, member.value);
    summary.high = std::max(summary.high, member.value);
    summary.draws = std::max(summary.draws, ++draws[member.seed]);
  }
}

std::optional<MetricSummary> summarize(const Record& record, const std::vector<const PointResult*>& members,
                                       const MetricResult& of_first) {
  MetricSummary summary;
  summary.name = of_first.name;
  std::vector<Measurement> values, deltas;
  for (const PointResult* member : members) {
    std::optional<Measurement> value = measured_value(record, *member, summary.name);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
    if (auto delta = measured_difference(record, *member, summary.name)) deltas.push_back(std::move(*delta));
  }
  set_range(values, summary);
  const bool one_mask = std::all_of(members.begin(), members.end(), [&](const PointResult* member) {
    return member->removed == members.front()->removed;
  });
  const bool one_model = values.front().seed == values.back().seed || !seeds_differ(record);
  const bool one_measurement = members.size() == 1 || (one_model && one_mask && all_the_same(values));
  const Repetitions over_values = repeated(record, std::move(values));
  summary.seeds = over_values.seeds;
  if (one_measurement) {
    if (!seeds_differ(record)) summary.seeds.resize(1);
    summary.estimate = of_first.estimate;
    summary.over = "examples";
    summary.difference = of_first.difference;
    return summary;
  }
  const MetricInfo info = metric_info(record, summary.name);
  summary.parts = over_values.crossed();
  summary.estimate = crossed_estimate(*summary.parts, info);
  summary.estimate.n = of_first.estimate.n;
  summary.over = over_values.over;
  if (deltas.size() == members.size())
    summary.difference = crossed_difference(repeated(record, std::move(deltas)).crossed(), info);
  return summary;
}

void finish(const Record& record, PointGroup& group) {
  std::stable_sort(group.members.begin(), group.members.end(), [](const PointResult* a, const PointResult* b) {
    return std::tuple(a->spec.seed, a->spec.draw.value_or(0)) < std::tuple(b->spec.seed, b->spec.draw.value_or(0));
  });
  for (const MetricResult& metric : group.first().metrics) {
    if (auto summary = summarize(record, group.members, metric)) group.metrics.push_back(std::move(*summary));
  }
}

/// Sets q of one family: every p among the groups that remove a head; groups of the same masks count once.
void set_q(const std::vector<PointGroup*>& family) {
  std::set<std::string> names;
  for (const PointGroup* group : family)
    for (const MetricSummary& metric : group->metrics) names.insert(metric.name);
  for (const std::string& name : names) {
    TestFamily tests;
    for (PointGroup* group : family) {
      const auto metric = std::find_if(group->metrics.begin(), group->metrics.end(),
                                       [&](const MetricSummary& one) { return one.name == name; });
      if (metric == group->metrics.end() || group->first().intact()) continue;
      if (!metric->difference || !metric->difference->p) continue;
      std::vector<std::string> masks;
      for (const PointResult* member : group->members) masks.push_back(member->evaluated());
      const bool known = std::find(masks.begin(), masks.end(), "") == masks.end();
      tests.add(*metric->difference->p, metric->q, known ? join(masks, " ") : "");
    }
    tests.correct();
  }
}

/// Where a curve is of one random order, intervals over examples say nothing of other orders. With no head or every
/// head removed there is one mask, whatever the order.
void drop_intervals(CurveGroup& curve) {
  for (PointGroup& point : curve.points) {
    if (point.first().spec.heads_removed == 0 || point.first().spec.heads_removed == point.first().heads_total)
      continue;
    for (MetricSummary& metric : point.metrics) {
      metric.estimate = {
          .value = metric.estimate.value, .n = metric.estimate.n, .stderr_ = {}, .ci95 = {}, .interval = ""};
      if (metric.difference)
        metric.difference =
            Difference{.delta = metric.difference->delta, .stderr_ = {}, .ci95 = {}, .p = {}, .test = ""};
      metric.q.reset();
    }
  }
}

/// A table of one method, and of one seed where heads are told apart: what is printed as one table.
struct TableKey {
  Place table, method;
  int64_t seed = -1;
  auto operator<=>(const TableKey&) const = default;
};

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
  SurgerySummary summary{.worst = -1};  // so that a difference of 0 brings its tolerance too
  for (const auto& [point, result] : record.surgery) {
    if (!(result.max_abs_diff <= summary.worst) && !std::isnan(summary.worst))
      summary.worst = result.max_abs_diff, summary.tolerance = result.tolerance;
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

MetricInfo metric_info(const Record& record, const std::string& metric) {
  if (record.facts)
    for (const MetricFact& fact : record.facts->metrics)
      if (fact.name == metric) return fact;
  return {.name = metric};
}

bool higher_is_better(const Record& record, const std::string& metric) {
  return metric_info(record, metric).higher_is_better;
}

std::string sensitivity_unit(const PointSpec& spec) {
  if (!spec.layer) return spec.kind;
  const BlockId block{parse_kind(spec.kind), *spec.layer};
  if (spec.group) return fmt::format("{}.G{}", to_string(block), *spec.group);
  return spec.head ? to_string(HeadId{block, *spec.head}) : to_string(block);
}

std::optional<PointGroup> base_group(const Record& record, std::optional<int64_t> at_step) {
  PointGroup group;
  for (const auto& [id, point] : record.points) {
    if (point.spec.rule == "none" && point.spec.at_step == at_step) group.members.push_back(&point);
  }
  if (group.members.empty()) return std::nullopt;
  finish(record, group);
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
  using Seed = std::optional<int64_t>;
  using Key = std::tuple<Place, Place, std::string, std::string, std::string, std::optional<int64_t>, Seed>;
  const bool shared = heads_shared_by_seeds(record);
  std::map<Key, std::map<int64_t, PointGroup>> found;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.sweep.empty() || !spec.name.empty() || spec.control_steps) continue;
    const Seed seed = spec.method.empty() && !shared ? Seed(spec.seed) : std::nullopt;
    const Key key{place_of(sweeps, spec.sweep),
                  place_of(methods, spec.method),
                  spec.rule,
                  point.scope,
                  spec.kind,
                  spec.at_step,
                  seed};
    found[key][spec.heads_removed].members.push_back(&point);
  }
  std::vector<CurveGroup> curves;
  for (auto& [key, points] : found) {
    const auto& [sweep, method, rule, scope, kind, at_step, seed] = key;
    CurveGroup curve{.method = method.label,
                     .sweep = sweep.label,
                     .rule = rule,
                     .scope = scope,
                     .kind = kind,
                     .at_step = at_step,
                     .seed = seed,
                     .points = {}};
    std::vector<PointGroup*> family;
    for (auto& [removed, group] : points) {
      finish(record, group);
      family.push_back(&group);
    }
    set_q(family);
    for (auto& [removed, group] : points) curve.points.push_back(std::move(group));
    if (one_random_order(record, curve)) drop_intervals(curve);
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<PointGroup> sensitivity_groups(const Record& record) {
  const std::vector<std::string> methods = method_order(record);
  const std::vector<std::string> order = record.facts ? record.facts->tables : std::vector<std::string>();
  using Row = std::tuple<int, int64_t, int64_t, int64_t>;  // kind, layer, head, heads removed
  const bool shared = heads_shared_by_seeds(record);
  std::map<TableKey, std::map<Row, PointGroup>> tables;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.table.empty()) continue;
    TableKey key{place_of(order, spec.table), place_of(methods, spec.method)};
    if (spec.shown() == Shown::heads && !shared) key.seed = spec.seed;
    const Row row{spec.kind == "all" ? -1 : static_cast<int>(parse_kind(spec.kind)), spec.layer.value_or(-1),
                  spec.head.value_or(spec.group.value_or(-1)), spec.heads_removed};
    PointGroup& group = tables[key][row];
    group.members.push_back(&point);
    if (key.seed >= 0) group.seed = key.seed;
  }
  std::vector<PointGroup> groups;
  for (auto& [key, rows] : tables) {
    std::vector<PointGroup*> family;
    for (auto& [row, group] : rows) {
      finish(record, group);
      family.push_back(&group);
    }
    set_q(family);
    for (auto& [row, group] : rows) groups.push_back(std::move(group));
  }
  return groups;
}

bool heads_shared_by_seeds(const Record& record) {
  return recorded_seeds(record).size() < 2 ||
         (record.facts && record.facts->seeds_differ_in != SeedsDifferIn::training);
}

std::vector<std::optional<int64_t>> seeds_of_heads(const Record& record) {
  if (heads_shared_by_seeds(record)) return {std::nullopt};
  const std::vector<int64_t> seeds = recorded_seeds(record);
  return {seeds.begin(), seeds.end()};
}

std::map<std::pair<std::string, std::string>, double> point_q(const Record& record) {
  using Family = std::tuple<int64_t, std::string, std::string, std::string, int64_t>;
  std::map<Family, std::map<std::string, PointGroup>> families;
  for (const auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.rule == "none" || spec.control_steps) continue;
    PointGroup alone{.members = {&point}};
    for (const MetricResult& metric : point.metrics) {
      MetricSummary& summary = alone.metrics.emplace_back();
      summary.name = metric.name;
      summary.difference = metric.difference;
    }
    families[{spec.seed, spec.sweep, spec.table, spec.method, spec.draw.value_or(0)}][id] = std::move(alone);
  }
  std::map<std::pair<std::string, std::string>, double> all;
  for (auto& [key, points] : families) {
    std::vector<PointGroup*> family;
    for (auto& [id, point] : points) family.push_back(&point);
    set_q(family);
    for (const auto& [id, point] : points)
      for (const MetricSummary& metric : point.metrics)
        if (metric.q) all[{id, metric.name}] = *metric.q;
  }
  return all;
}

bool one_random_order(const Record& record, const CurveGroup& curve) {
  std::set<std::pair<int64_t, int64_t>> orders;
  for (const PointGroup& point : curve.points)
    for (const PointResult* member : point.members) orders.insert({member->spec.seed, member->spec.draw.value_or(0)});
  return is_random(record, curve.method) && orders.size() == 1;
}

std::vector<PointSpec> failed_points(const Record& record, const CurveGroup& curve) {
  std::vector<PointSpec> specs;
  for (const auto& [id, failure] : record.failed) {
    const auto started = record.started_points.find(id);
    if (started == record.started_points.end()) continue;
    const PointSpec& spec = started->second;
    if (spec.sweep == curve.sweep && spec.method == curve.method && spec.at_step == curve.at_step &&
        spec.name.empty() && !spec.control_steps)
      specs.push_back(spec);
  }
  return specs;
}

std::vector<PointGroup> control_groups(const Record& record, const std::string& sweep) {
  std::map<int64_t, PointGroup> found;  // by step
  for (const auto& [id, point] : record.points)
    if (point.spec.control_steps && point.spec.sweep == sweep) found[point.step].members.push_back(&point);
  std::vector<PointGroup> groups;
  for (auto& [step, group] : found) {
    finish(record, group);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<MaskList> mask_lists(const Record& record) {
  const std::vector<std::string> sweeps = record.facts ? record.facts->sweeps : std::vector<std::string>();
  const bool shared = heads_shared_by_seeds(record);
  using Rows = std::map<std::pair<int64_t, std::string>, PointGroup>;  // by step, name
  std::map<std::pair<Place, std::optional<int64_t>>, Rows> found;
  for (const auto& [id, point] : record.points) {
    if (point.spec.name.empty()) continue;
    // A model that lost no head names none, so it means the same for every seed; a mask that was learnt never does.
    const bool apart = (!shared || point.spec.lambda) && !point.other_model();
    const auto seed = apart ? std::optional(point.spec.seed) : std::nullopt;
    found[{place_of(sweeps, point.spec.sweep), seed}][{point.step, point.spec.name}].members.push_back(&point);
  }
  std::vector<MaskList> lists;
  for (auto& [key, rows] : found) {
    MaskList list{.sweep = key.first.label, .seed = key.second, .points = {}};
    for (auto& [row, group] : rows) {
      finish(record, group);
      list.points.push_back(std::move(group));
    }
    std::vector<PointGroup*> family;
    for (PointGroup& group : list.points) family.push_back(&group);
    set_q(family);
    lists.push_back(std::move(list));
  }
  return lists;
}

}  // namespace headprune
