#include "report/tables/sweep_rows.h"

#include <fmt/format.h>

#include <set>

#include "core/text.h"
#include "report/numbers/areas.h"
#include "report/numbers/keyed_metrics.h"
#include "report/tables/notes.h"

namespace headprune {
namespace {

const MetricSummary* at(const CurveGroup& curve, int64_t removed, const std::string& metric) {
  for (const PointGroup& point : curve.points) {
    if (point.first().spec.heads_removed == removed) return point.metric(metric);
  }
  return nullptr;
}

std::string method_cell(const MetricSummary* metric) {
  if (metric == nullptr) return "- ";
  return estimate_text(metric->estimate) + (metric->significant() ? "*" : " ");
}

/// The intact model trained as long as the points that lack so many heads; empty where that is not trained. Every curve
/// is asked, since the first may lack a point that failed.
std::string trained_cell(const Sweep& sweep, int64_t removed, const std::string& metric) {
  std::set<int64_t> steps;
  for (const auto* list : {&sweep.curves, &sweep.controls})
    for (const CurveGroup& curve : *list)
      for (const PointGroup& point : curve.points)
        if (point.first().spec.heads_removed == removed) steps.insert(point.first().step);
  for (const PointGroup& trained : sweep.trained)
    if (steps.contains(trained.first().step))
      if (const MetricSummary* summary = trained.metric(metric)) return estimate_text(summary->estimate);
  return "-";
}

std::string control_cell(const MetricSummary* metric) {
  if (metric == nullptr) return "-";
  // One order has no range.
  if (metric->low == metric->high) return value_text(metric->estimate.value);
  return interval_text(metric->estimate.value, metric->low, metric->high);
}

}  // namespace

std::string sweep_title(const Sweep& sweep) {
  const CurveGroup& any = sweep.any();
  std::string what = any.sweep == any.rule ? any.rule : fmt::format("{} ({})", any.sweep, any.rule);
  what += fmt::format(", {} ranking", any.scope);
  if (any.kind != "all") what += fmt::format(", {} heads only", any.kind);
  if (any.at_step) what += fmt::format(", the model after {}", count_text(*any.at_step, "training step"));
  return what;
}

TextRows sweep_rows(const Sweep& sweep, const std::string& metric) {
  std::map<int64_t, int64_t> totals;  // heads_removed -> heads_total
  TextRows rows = {{"fraction", "heads left"}};
  for (const auto* list : {&sweep.curves, &sweep.controls}) {
    for (const CurveGroup& curve : *list) {
      for (const PointGroup& point : curve.points) totals[point.first().spec.heads_removed] = point.first().heads_total;
      rows[0].push_back(curve.name() + (list == &sweep.curves ? " " : ""));
    }
  }
  if (!sweep.trained.empty()) rows[0].push_back("intact, trained");
  for (const auto& [removed, total] : totals) {
    std::vector<std::string> row = {fraction_text(removed, total), std::to_string(total - removed)};
    if (row[0].size() > 5) row[0] = fmt::format("{:.3f}", static_cast<double>(removed) / static_cast<double>(total));
    for (const CurveGroup& curve : sweep.curves) row.push_back(method_cell(at(curve, removed, metric)));
    for (const CurveGroup& curve : sweep.controls) row.push_back(control_cell(at(curve, removed, metric)));
    if (!sweep.trained.empty()) row.push_back(trained_cell(sweep, removed, metric));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> sweep_notes(const Record& record, const Sweep& sweep, const std::string& metric) {
  std::vector<std::string> out;
  for (const CurveGroup& curve : sweep.curves)
    for (const MethodFact& fact : record.facts ? record.facts->methods : std::vector<MethodFact>())
      if (fact.label == curve.method && !fact.note.empty())
        out.push_back(fmt::format("{}: {}.", fact.label, fact.note));
  std::set<std::string> said;
  std::vector<const PointGroup*> points;
  for (const CurveGroup& curve : sweep.curves) {
    for (const PointGroup& point : curve.points) {
      points.push_back(&point);
      const MetricSummary* summary = point.metric(metric);
      if (summary == nullptr || !summary->estimate.ci95) continue;
      const std::string over = over_text(*summary);
      if (said.insert(over).second) out.push_back("[ ] 95 % interval " + over + ".");
    }
  }
  for (const CurveGroup& curve : sweep.controls) {
    int64_t draws = 1;
    size_t seeds = 1;
    for (const PointGroup& point : curve.points) {
      for (const MetricSummary& summary : point.metrics) {
        draws = std::max(draws, summary.draws);
        seeds = std::max(seeds, summary.seeds.size());
      }
    }
    const std::string of =
        count_text(draws, "random order") + (seeds > 1 ? fmt::format(" for each of {} seeds", seeds) : "");
    out.push_back(one_random_order(record, curve)
                      ? fmt::format("{}: one random order, which says nothing of others: no interval.", curve.method)
                      : fmt::format("{}: mean [smallest, largest] of {}: no interval, the range of what was drawn.",
                                    curve.method, of));
  }
  if (!sweep.trained.empty())
    out.push_back(
        "intact, trained: no head removed, trained on for as many steps as the points of that row: what "
        "training alone gives.");
  if (sweep.curves.empty()) return out;
  const std::string of = sweep.any().at_step ? ", against the model of that step" : "";
  for (std::string& note : star_notes(points, metric, "the points of each curve" + of)) out.push_back(std::move(note));
  std::vector<std::vector<const PointGroup*>> families;
  for (const CurveGroup& curve : sweep.curves) {
    families.emplace_back();
    for (const PointGroup& point : curve.points) families.back().push_back(&point);
  }
  if (const std::string note = power_note(record, families, metric); !note.empty()) out.push_back(note);
  return out;
}

std::string areas_sentence(const Record& record, const Sweep& sweep, const std::string& metric) {
  const std::vector<AreaSummary> control_areas =
      sweep.controls.empty() ? std::vector<AreaSummary>() : curve_areas(record, sweep.controls.front());
  const AreaSummary* control = area_of(control_areas, metric);
  std::vector<std::string> parts;
  std::string range;  // of the first curve; one that covers another says so
  const auto other_range = [&](const AreaSummary& area) {
    if (range.empty()) range = range_text(area);
    return range_text(area) == range ? std::string() : fmt::format(" (over {})", range_text(area));
  };
  int64_t orders = 0;
  const bool one_order = !sweep.controls.empty() && one_random_order(record, sweep.controls.front());
  for (const CurveGroup& curve : sweep.curves) {
    const std::vector<AreaSummary> areas = curve_areas(record, curve);
    const AreaSummary* area = area_of(areas, metric);
    if (area == nullptr) continue;
    std::string part = fmt::format("{} {}{}", curve.name(), estimate_text(area->estimate), other_range(*area));
    const auto against = control == nullptr ? std::nullopt : against_random(record, *area, *control);
    if (against) {
      orders = against->orders;
      part += fmt::format(" ({}{} against {}; {} of {} at least as good, p = {:.3g})",
                          change_text(against->difference.delta), change_interval_text(against->difference),
                          one_order ? "the one random order" : "the mean random order", against->as_good,
                          against->orders, against->p);
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return "";
  std::string control_text;
  if (control != nullptr) {
    const std::string spread =
        one_order ? "one order, which says nothing of others"
                  : fmt::format("smallest {}, largest {}", value_text(control->low), value_text(control->high));
    control_text = fmt::format("; {} {} ({}){}", sweep.controls.front().method, estimate_text(control->estimate),
                               spread, other_range(*control));
    if (orders > 0) control_text += ". p is one-sided, of each method by itself";
    if (orders > 0 && orders < kEnoughOrders)
      control_text +=
          fmt::format(". With {} no p below {:.3g} can come out; p < 0.05 takes {}", count_text(orders, "random order"),
                      1.0 / static_cast<double>(orders + 1), kEnoughOrders);
  }
  return fmt::format("Mean {} from fraction {}: {}{}.", metric, range, join(parts, ", "), control_text);
}

std::string mask_title(const MaskList& list) {
  return fmt::format("{} of {}", list.of_models() ? "Models" : "Masks", list.sweep) +
         (list.seed ? fmt::format(", seed {}", *list.seed) : "");
}

std::string mask_subject(const MaskList& list, const std::string& metric) {
  return list.of_models() ? fmt::format("{} of models with all heads", metric)
                          : fmt::format("{} of the pruned model", metric);
}

TextRows mask_rows(const MaskList& list, const std::string& metric) {
  const bool models = list.of_models();
  const bool caches = models && list.points.front().first().kv_cache_bytes_per_token;
  TextRows rows = {{models ? "model" : "mask"}};
  if (models) rows[0].emplace_back("parameters");
  if (caches) rows[0].emplace_back("cache bytes a token");
  if (!models) rows[0].emplace_back("heads left");
  rows[0].insert(rows[0].end(), {metric + " ", "change"});
  for (const PointGroup& point : list.points) {
    const PointResult& first = point.first();
    const MetricSummary* summary = point.metric(metric);
    const bool changed = summary != nullptr && summary->difference.has_value();
    std::vector<std::string> row = {first.spec.name};
    if (models) row.push_back(std::to_string(first.params));
    if (caches) row.push_back(std::to_string(*first.kv_cache_bytes_per_token));
    if (!models) row.push_back(std::to_string(first.heads_total - first.spec.heads_removed));
    row.push_back(method_cell(summary));
    row.push_back(changed ? change_text(summary->difference->delta) + change_interval_text(*summary->difference) : "-");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> mask_notes(const Record& record, const MaskList& list, const std::string& metric) {
  std::vector<const PointGroup*> points;
  std::vector<std::string> notes;
  std::set<std::string> said;
  for (const PointGroup& point : list.points) {
    points.push_back(&point);
    const MetricSummary* summary = point.metric(metric);
    if (summary == nullptr || !summary->estimate.ci95) continue;
    const std::string over = over_text(*summary);
    if (said.insert(over).second) notes.push_back("[ ] 95 % interval " + over + ".");
  }
  for (std::string& note : star_notes(points, metric, "the list")) notes.push_back(std::move(note));
  if (const std::string note = power_note(record, {points}, metric); !note.empty()) notes.push_back(note);
  return notes;
}

}  // namespace headprune
