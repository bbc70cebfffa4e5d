#include "report/sweeps.h"

#include <fmt/format.h>

#include <set>

#include "core/text.h"
#include "report/results_json.h"
#include "report/terminal.h"

namespace headprune {
namespace {

constexpr int64_t kEnoughDraws = 5;  // formats.md section 14

const MetricSummary* at(const CurveGroup& curve, int64_t removed, const std::string& metric) {
  for (const PointGroup& point : curve.points) {
    if (point.first().spec.heads_removed == removed) return point.metric(metric);
  }
  return nullptr;
}

bool differs(const MetricSummary& metric) {
  if (!metric.difference || !metric.difference->ci95) return false;
  const auto& interval = *metric.difference->ci95;
  return interval[0] > 0 || interval[1] < 0;
}

std::string method_cell(const MetricSummary* metric) {
  if (metric == nullptr) return "- ";
  return estimate_text(metric->estimate) + (differs(*metric) ? "*" : " ");
}

std::string control_cell(const MetricSummary* metric) {
  return metric == nullptr ? "-" : interval_text(metric->estimate.value, metric->low, metric->high);
}

}  // namespace

std::vector<Sweep> sweeps_of(const Record& record) {
  std::vector<Sweep> sweeps;
  for (CurveGroup& curve : curve_groups(record)) {
    const auto same = [&](const CurveGroup& other) {
      return other.sweep == curve.sweep && other.rule == curve.rule && other.scope == curve.scope &&
             other.kind == curve.kind && other.at_step == curve.at_step;
    };
    if (sweeps.empty() || !same(sweeps.back().any())) sweeps.emplace_back();
    auto& list = is_random(record, curve.method) ? sweeps.back().controls : sweeps.back().curves;
    list.push_back(std::move(curve));
  }
  return sweeps;
}

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
      rows[0].push_back(curve.method + (list == &sweep.curves ? " " : ""));
    }
  }
  for (const auto& [removed, total] : totals) {
    std::vector<std::string> row = {fraction_text(removed, total), std::to_string(total - removed)};
    if (row[0].size() > 5) row[0] = fmt::format("{:.3f}", static_cast<double>(removed) / static_cast<double>(total));
    for (const CurveGroup& curve : sweep.curves) row.push_back(method_cell(at(curve, removed, metric)));
    for (const CurveGroup& curve : sweep.controls) row.push_back(control_cell(at(curve, removed, metric)));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> sweep_notes(const Sweep& sweep, const std::string& metric) {
  std::vector<std::string> out;
  std::set<std::string> said;
  bool star = false;
  for (const CurveGroup& curve : sweep.curves) {
    for (const PointGroup& point : curve.points) {
      const MetricSummary* summary = point.metric(metric);
      if (summary == nullptr) continue;
      star = star || differs(*summary);
      if (!summary->estimate.ci95) continue;
      const std::string over = over_text(summary->over, summary->estimate.n, summary->seeds.size(), summary->draws);
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
    const std::string few = draws < kEnoughDraws ? " Fewer than 5: the true spread is likely wider." : "";
    out.push_back(fmt::format("{}: mean [smallest, largest] of {}.{}", curve.method, of, few));
  }
  if (star) {
    const std::string of = sweep.any().at_step ? " of that step" : "";
    out.push_back(fmt::format(
        "* differs from the unpruned model{}: the 95 % interval of the paired difference leaves out 0.", of));
  }
  return out;
}

const AreaSummary* area_of(const std::vector<AreaSummary>& areas, const std::string& metric) {
  for (const AreaSummary& area : areas) {
    if (area.metric == metric) return &area;
  }
  return nullptr;
}

std::string range_text(const AreaSummary& area) { return fmt::format("{:.4g} to {:.4g}", area.from, area.to); }

std::string areas_sentence(const Sweep& sweep, const std::string& metric) {
  const std::vector<AreaSummary> control_areas =
      sweep.controls.empty() ? std::vector<AreaSummary>() : curve_areas(sweep.controls.front());
  const AreaSummary* control = area_of(control_areas, metric);
  std::vector<std::string> parts;
  std::string range;  // of the first curve; one that covers another says so
  const auto other_range = [&](const AreaSummary& area) {
    if (range.empty()) range = range_text(area);
    return range_text(area) == range ? std::string() : fmt::format(" (over {})", range_text(area));
  };
  for (const CurveGroup& curve : sweep.curves) {
    const std::vector<AreaSummary> areas = curve_areas(curve);
    const AreaSummary* area = area_of(areas, metric);
    if (area == nullptr) continue;
    std::string part = fmt::format("{} {}{}", curve.method, value_text(area->estimate.value), other_range(*area));
    const std::optional<Estimate> difference = control == nullptr ? std::nullopt : area_minus_random(*area, *control);
    if (difference) {
      part += fmt::format(" ({} against random", change_text(difference->value));
      if (difference->ci95) {
        part += fmt::format(", [{}, {}] over {} seeds", change_text((*difference->ci95)[0]),
                            change_text((*difference->ci95)[1]), area->seeds.size());
      }
      part += ")";
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return "";
  std::string control_text;
  if (control != nullptr) {
    control_text = fmt::format("; random {} (smallest {}, largest {}){}", value_text(control->estimate.value),
                               value_text(control->low), value_text(control->high), other_range(*control));
  }
  return fmt::format("Mean {} from fraction {}: {}{}.", metric, range, join(parts, ", "), control_text);
}

}  // namespace headprune
