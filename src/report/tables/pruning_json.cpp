#include "report/tables/pruning_json.h"

#include <cmath>
#include <set>

#include "report/numbers/agreement_rows.h"
#include "report/numbers/areas.h"
#include "report/numbers/timing.h"
#include "stats/bootstrap.h"

namespace headprune {
namespace {

/// "value", and beside it what it was where JSON has no number for it.
void put_value(Json& json, double value) {
  const Json measurement = measurement_json(value);
  if (!measurement.is_object()) {
    json["value"] = measurement;
    return;
  }
  for (const auto& [key, part] : measurement.items()) json[key] = part;
}

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) json[key] = *value;
}

void put_interval(Json& json, const char* key, const std::optional<std::array<double, 2>>& interval) {
  if (interval && std::isfinite((*interval)[0]) && std::isfinite((*interval)[1])) json[key] = *interval;
}

Json list_of(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_or_null(value));
  return list;
}

Json metric_json(const MetricSummary& metric) {
  const Estimate& estimate = metric.estimate;
  Json json;
  put_value(json, estimate.value);
  put(json, "stderr", estimate.stderr_);
  put_interval(json, "ci95", estimate.ci95);
  if (!estimate.interval.empty()) json["interval"] = estimate.interval;
  json["n"] = estimate.n;
  json["over"] = metric.over;
  if (metric.parts && metric.parts->n > 0)
    json["variance"] = {{metric.over, metric.parts->repetition_variance}, {"examples", metric.parts->example_variance}};
  if (metric.difference) {
    const Difference& difference = *metric.difference;
    put(json, "delta", difference.delta);
    put(json, "delta_stderr", difference.stderr_);
    put_interval(json, "delta_ci95", difference.ci95);
    put(json, "p", difference.p);
    put(json, "q", metric.q);
    if (!difference.test.empty()) json["test"] = difference.test;
  }
  json["seeds"] = list_of(metric.seeds);
  if (metric.draws > 1) {
    json["draws"] = metric.draws;
    json["low"] = number_or_null(metric.low);
    json["high"] = number_or_null(metric.high);
  }
  return json;
}

Json metrics_of(const PointGroup& group) {
  Json json = Json::object();
  for (const MetricSummary& metric : group.metrics) json[metric.name] = metric_json(metric);
  return json;
}

/// The mask of a point, or of each member where there are several.
void put_members(Json& json, const PointGroup& group) {
  if (group.members.size() == 1) {
    json["removed"] = group.first().removed.to_json();
    json["mask_sha256"] = group.first().mask;
    return;
  }
  json["members"] = Json::array();
  for (const PointResult* point : group.members) {
    Json member;
    member["point"] = point->point;
    member["seed"] = point->spec.seed;
    if (point->spec.draw) member["draw"] = *point->spec.draw;
    const auto& head = point->spec.head ? point->spec.head : point->kept_head;
    if (head) member["head"] = *head;
    const auto& of_group = point->spec.group ? point->spec.group : point->kept_group;
    if (of_group) member["group"] = *of_group;
    member["removed"] = point->removed.to_json();
    member["mask_sha256"] = point->mask;
    json["members"].push_back(std::move(member));
  }
}

void put_counts(Json& json, const PointResult& point) {
  json["fraction"] = point.fraction;
  json["heads_removed"] = point.spec.heads_removed;
  json["heads_total"] = point.heads_total;
}

Json curve_point_json(const PointGroup& group) {
  Json json;
  if (group.members.size() == 1) json["point"] = group.first().point;
  json["step"] = group.first().step;
  put_counts(json, group.first());
  put_members(json, group);
  json["metrics"] = metrics_of(group);
  return json;
}

Json area_json(const AreaSummary& area) {
  Json json;
  json["value"] = area.estimate.value;
  put(json, "stderr", area.estimate.stderr_);
  put_interval(json, "ci95", area.estimate.ci95);
  if (!area.estimate.interval.empty()) json["interval"] = area.estimate.interval;
  json["from"] = area.from;
  json["to"] = area.to;
  json["n"] = area.estimate.n;
  json["seeds"] = list_of(area.repetitions.seeds);
  if (const std::optional<Estimate> middle = interquartile_mean(area.repetitions.seeds))
    json["interquartile_mean"] = {{"value", middle->value}, {"ci95", *middle->ci95}, {"interval", middle->interval}};
  if (area.draws > 1) {
    json["draws"] = area.draws;
    json["low"] = area.low;
    json["high"] = area.high;
  }
  return json;
}

/// The areas of a sweep's random control, by metric.
std::map<std::string, AreaSummary> control_areas(const Record& record, const std::vector<CurveGroup>& curves,
                                                 const CurveGroup& curve) {
  std::map<std::string, AreaSummary> areas;
  for (const CurveGroup& other : curves) {
    if (other.sweep != curve.sweep || other.scope != curve.scope || other.kind != curve.kind) continue;
    if (other.at_step != curve.at_step) continue;
    if (!is_random(record, other.method) || other.method == curve.method) continue;
    for (AreaSummary& area : curve_areas(record, other)) areas.emplace(area.metric, std::move(area));
  }
  return areas;
}

Json curves_json(const Record& record) {
  Json list = Json::array();
  const std::vector<CurveGroup> curves = curve_groups(record);
  for (const CurveGroup& curve : curves) {
    Json json;
    json["method"] = curve.method;
    if (curve.seed) json["seed"] = *curve.seed;
    json["sweep"] = curve.sweep;
    json["rule"] = curve.rule;
    json["scope"] = curve.scope;
    json["kind"] = curve.kind;
    if (curve.at_step) {
      json["at_step"] = *curve.at_step;
      if (const auto base = base_group(record, curve.at_step)) json["base"] = metrics_of(*base);
    }
    json["points"] = Json::array();
    for (const PointGroup& point : curve.points) json["points"].push_back(curve_point_json(point));
    json["auc"] = Json::object();
    json["auc_minus_random"] = Json::object();
    const std::map<std::string, AreaSummary> controls = control_areas(record, curves, curve);
    for (const AreaSummary& area : curve_areas(record, curve)) {
      json["auc"][area.metric] = area_json(area);
      const auto control = controls.find(area.metric);
      if (control == controls.end()) continue;
      const std::optional<AgainstRandom> against = against_random(record, area, control->second);
      if (!against) continue;
      Json entry;
      entry["value"] = against->difference.delta;
      put(entry, "stderr", against->difference.stderr_);
      put_interval(entry, "ci95", against->difference.ci95);
      entry["orders"] = against->orders;
      entry["as_good"] = against->as_good;
      entry["p"] = against->p;
      entry["random"] = area_json(control->second);
      json["auc_minus_random"][area.metric] = std::move(entry);
    }
    list.push_back(std::move(json));
  }
  return list;
}

/// The intact model, trained as long as the points of fine-tuning sweeps.
Json controls_json(const Record& record) {
  Json list = Json::array();
  std::set<std::string> sweeps;
  for (const auto& [id, point] : record.points)
    if (point.spec.control_steps) sweeps.insert(point.spec.sweep);
  for (const std::string& sweep : sweeps) {
    for (const PointGroup& point : control_groups(record, sweep)) {
      Json json = {{"sweep", sweep}, {"fine_tuning_steps", *point.first().spec.control_steps}};
      json.update(curve_point_json(point));
      list.push_back(std::move(json));
    }
  }
  return list;
}

Json masks_json(const Record& record) {
  Json list = Json::array();
  for (const MaskList& masks : mask_lists(record)) {
    for (const PointGroup& point : masks.points) {
      Json json;
      json["sweep"] = masks.sweep;
      if (masks.seed) json["seed"] = *masks.seed;
      json["name"] = point.first().spec.name;
      json.update(curve_point_json(point));
      list.push_back(std::move(json));
    }
  }
  return list;
}

Json sensitivity_json(const Record& record) {
  Json list = Json::array();
  for (const PointGroup& group : sensitivity_groups(record)) {
    const PointSpec& spec = group.first().spec;
    Json json;
    json["table"] = spec.table;
    json["unit"] = sensitivity_unit(spec);
    json["kind"] = spec.kind;
    if (spec.layer) json["layer"] = *spec.layer;
    if (spec.head) json["head"] = *spec.head;
    if (spec.group) json["group"] = *spec.group;
    if (group.members.size() == 1 && group.first().kept_head) json["head"] = *group.first().kept_head;
    if (group.members.size() == 1 && group.first().kept_group) json["group"] = *group.first().kept_group;
    if (!spec.method.empty()) json["method"] = spec.method;
    if (group.seed) json["seed"] = *group.seed;
    if (group.members.size() == 1) json["point"] = group.first().point;
    put_counts(json, group.first());
    put_members(json, group);
    json["metrics"] = metrics_of(group);
    list.push_back(std::move(json));
  }
  return list;
}

Json agreement_json(const std::vector<AgreementRow>& rows) {
  Json list = Json::array();
  for (const AgreementGroup& group : agreement_groups(rows)) {
    const AgreementRow& row = group.first;
    Json json;
    json["comparison"] = row.comparison;
    json["method_a"] = row.method_a;
    json["method_b"] = row.method_b;
    json["kind"] = row.kind;
    if (row.layer) json["layer"] = *row.layer;
    json["statistic"] = row.statistic;
    if (row.k) json["k"] = *row.k;
    json["value"] = group.values.empty() ? Json(nullptr) : Json(group.mean);
    if (group.values.size() == 1) put(json, "p", row.p);
    json["n"] = row.n;
    json[row.comparison == "seeds" ? "pairs" : "seeds"] = list_of(group.values);
    list.push_back(std::move(json));
  }
  return list;
}

Json surgery_json(const Record& record) {
  Json list = Json::array();
  for (const auto& [id, result] : record.surgery) {
    list.push_back({{"point", id},
                    {"max_abs_diff", measurement_json(result.max_abs_diff)},
                    {"tolerance", result.tolerance},
                    {"ok", result.ok}});
  }
  return list;
}

Json spread_json(const Spread& spread) {
  Json json;
  json["value"] = spread.mean;
  put(json, "stderr", spread.stderr_);
  json["median"] = spread.median;
  json["min"] = spread.min;
  json["max"] = spread.max;
  json["n"] = spread.n;
  return json;
}

Json timing_json(const Record& record) {
  Json list = Json::array();
  for (const TimingSummary& timing : timing_summaries(record)) {
    Json json;
    json["point"] = timing.point == nullptr ? timing.result->point : timing.point->point;
    json["form"] = timing.result->form;
    if (timing.point != nullptr) put_counts(json, *timing.point);
    json["batch_size"] = timing.result->batch_size;
    json["sequence_length"] = timing.result->sequence_length;
    json["warmup"] = timing.result->warmup;
    json["seconds_per_batch"] = spread_json(timing.seconds_per_batch);
    json["examples_per_second"] = spread_json(timing.examples_per_second);
    list.push_back(std::move(json));
  }
  return list;
}

/// directions, ties and cost of each method, summed over seeds and draws.
void put_methods(Json& json, const Record& record) {
  struct Cost {
    std::string direction;
    int64_t ties = 0, examples = 0, forward = 0, backward = 0;
    double seconds = 0;
  };
  std::map<std::string, Cost> costs;
  for (const auto& [key, score] : record.scores) {
    if (!key.sweep.empty() || !score.done) continue;
    Cost& cost = costs[key.method];
    cost.direction = score.done->direction;
    cost.ties += score.done->ties;
    cost.examples += score.done->examples;
    cost.forward += score.done->forward;
    cost.backward += score.done->backward;
    cost.seconds += score.done->dur_s;
  }
  for (const char* key : {"directions", "ties", "cost"}) json[key] = Json::object();
  for (const auto& [method, cost] : costs) {
    json["directions"][method] = cost.direction;
    json["ties"][method] = cost.ties;
    json["cost"][method] = {
        {"examples", cost.examples}, {"forward", cost.forward}, {"backward", cost.backward}, {"seconds", cost.seconds}};
  }
}

}  // namespace

Json pruning_json(const Record& record, const std::vector<AgreementRow>& agreement) {
  Json json;
  json["curves"] = curves_json(record);
  json["masks"] = masks_json(record);
  json["controls"] = controls_json(record);
  json["sensitivity"] = sensitivity_json(record);
  json["agreement"] = agreement_json(agreement);
  json["surgery"] = surgery_json(record);
  json["timing"] = timing_json(record);
  json["scores"] = "scores.safetensors";
  put_methods(json, record);
  return json;
}

}  // namespace headprune
