#include "report/curve_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "report/sample_values.h"
#include "stats/bootstrap.h"
#include "stats/curve.h"
#include "stats/intervals.h"

namespace headprune {
namespace {

constexpr int64_t kMostDraws = 2000;  // of the bootstrap of a whole curve: two digits of an interval need no more

/// The curve of each seed, draws averaged.
std::map<int64_t, Curve> curves_by_seed(const CurveGroup& curve, const std::string& metric) {
  std::map<int64_t, Curve> curves;
  for (const PointGroup& point : curve.points) {
    std::map<int64_t, std::vector<double>> values;
    for (const PointResult* member : point.members) {
      if (const MetricResult* result = member->metric(metric))
        values[member->spec.seed].push_back(result->estimate.value);
    }
    for (const auto& [seed, list] : values) {
      const double mean = std::accumulate(list.begin(), list.end(), 0.0) / static_cast<double>(list.size());
      curves[seed].push_back({point.first().fraction, mean});
    }
  }
  return curves;
}

/// Values of every example at every fraction, draws averaged; only for a single seed with samples at every point.
struct ExampleCurve {
  std::vector<double> fractions;
  std::vector<std::vector<double>> values;  // [fractions][examples]
};

std::optional<ExampleCurve> example_curve(const Record& record, const std::filesystem::path& folder,
                                          const CurveGroup& curve, const std::string& metric) {
  ExampleCurve found;
  std::vector<std::string> ids;
  for (const PointGroup& point : curve.points) {
    std::vector<double> sum;
    for (const PointResult* member : point.members) {
      if (member->spec.seed != curve.points.front().first().spec.seed) return std::nullopt;
      const std::optional<SampleValues> samples = sample_values(folder, record, *member, metric);
      if (!samples) return std::nullopt;
      if (ids.empty()) ids = samples->ids;
      if (samples->ids != ids) return std::nullopt;
      sum.resize(samples->values.size(), 0.0);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += samples->values[i] / static_cast<double>(point.members.size());
    }
    found.fractions.push_back(point.first().fraction);
    found.values.push_back(std::move(sum));
  }
  return found;
}

double last_of(std::span<const double> sums) { return sums.back(); }

/// The area is linear in the examples: one column holds each example's own area.
std::vector<double> area_of_examples(const ExampleCurve& curve) {
  std::vector<double> areas(curve.values.front().size(), 0.0);
  const double range = curve.fractions.back() - curve.fractions.front();
  for (size_t p = 1; p < curve.fractions.size(); ++p) {
    const double weight = 0.5 * (curve.fractions[p] - curve.fractions[p - 1]) / range;
    for (size_t i = 0; i < areas.size(); ++i) areas[i] += weight * (curve.values[p][i] + curve.values[p - 1][i]);
  }
  return areas;
}

void set_from_examples(CurveNumber& number, const Bootstrap& bootstrap, std::vector<double> examples) {
  const auto n = static_cast<double>(examples.size());
  const Estimate estimate = bootstrap_estimate(bootstrap.resample(
      {examples.size(), {std::move(examples)}}, [n](std::span<const double> sums) { return last_of(sums) / n; }));
  if (!estimate.ci95) return;
  number.interval = estimate.ci95;
  number.over = "examples";
}

void set_from_seeds(CurveNumber& number, const Estimate& estimate) {
  number.value = estimate.value;
  if (!estimate.ci95) return;
  number.interval = estimate.ci95;
  number.over = "seeds";
}

struct WithinRequest {
  const Record& record;
  std::optional<int64_t> at_step;
  const std::string& metric;
  double drop = 0;
};

CurveNumber within_over_seeds(const WithinRequest& request, const std::map<int64_t, Curve>& curves) {
  CurveNumber number;
  std::vector<double> fractions;
  for (const auto& [seed, curve] : curves) {
    const PointResult* point = request.record.base({.seed = seed, .at_step = request.at_step});
    const MetricResult* base = point == nullptr ? nullptr : point->metric(request.metric);
    if (base == nullptr) return number;
    const bool higher = higher_is_better(request.record, request.metric);
    // No point within the limit: nothing could be removed.
    fractions.push_back(largest_fraction_within(curve, base->estimate.value, request.drop, higher).value_or(0));
  }
  if (fractions.empty()) return number;
  number.value = std::accumulate(fractions.begin(), fractions.end(), 0.0) / static_cast<double>(fractions.size());
  if (fractions.size() < 2) return number;
  const auto [low, high] = std::minmax_element(fractions.begin(), fractions.end());
  number.interval = {*low, *high};
  number.over = "seeds";
  return number;
}

/// The fraction is a step function of the examples, so the percentiles of its draws are taken as they are.
void add_within_interval(CurveNumber& number, const WithinRequest& request, const Bootstrap& bootstrap,
                         const ExampleCurve& curve, const std::vector<double>& base) {
  Columns columns{base.size(), curve.values};
  columns.columns.push_back(base);
  const auto n = static_cast<double>(base.size());
  const bool higher = higher_is_better(request.record, request.metric);
  const Resampled resampled = bootstrap.resample(columns, [&](std::span<const double> sums) {
    Curve drawn;
    for (size_t p = 0; p < curve.fractions.size(); ++p) drawn.push_back({curve.fractions[p], sums[p] / n});
    return largest_fraction_within(drawn, sums.back() / n, request.drop, higher).value_or(0);
  });
  std::vector<double> draws = resampled.draws;
  if (draws.empty()) return;
  std::sort(draws.begin(), draws.end());
  const auto at = [&](double share) {
    return draws[static_cast<size_t>(share * static_cast<double>(draws.size() - 1))];
  };
  number.interval = {at(0.025), at(0.975)};
  number.over = "examples";
}

}  // namespace

std::vector<DropLimit> drop_limits(const Record& record, const Sweep& sweep, const std::string& metric) {
  std::vector<DropLimit> limits;
  for (const char* bounded : {"accuracy", "f1", "matthews", "pearson", "spearman"}) {
    if (metric == bounded) return {{0.01, "0.01"}, {0.02, "0.02"}, {0.05, "0.05"}};
  }
  const std::optional<MetricSummary> summary = base_metric(record, metric, sweep.any().at_step);
  if (!summary || !std::isfinite(summary->estimate.value)) return limits;
  for (const double share : {0.01, 0.02, 0.05})
    limits.push_back({share * std::abs(summary->estimate.value), fmt::format("{:.0f} %", 100 * share)});
  return limits;
}

std::vector<CurveStatistics> curve_statistics(const Record& record, const std::filesystem::path& run_folder,
                                              const Sweep& sweep, const std::string& metric) {
  std::vector<const CurveGroup*> groups;
  for (const auto* list : {&sweep.curves, &sweep.controls}) {
    for (const CurveGroup& curve : *list) groups.push_back(&curve);
  }
  const CurveGroup* control = sweep.controls.empty() ? nullptr : &sweep.controls.front();
  const std::vector<AreaSummary> control_areas =
      control == nullptr ? std::vector<AreaSummary>() : curve_areas(*control);
  const AreaSummary* control_area = area_of(control_areas, metric);
  const std::optional<ExampleCurve> control_examples =
      control == nullptr ? std::nullopt : example_curve(record, run_folder, *control, metric);

  std::optional<SampleValues> base;
  if (const PointResult* point = record.base(groups.front()->points.front().first().spec))
    base = sample_values(run_folder, record, *point, metric);
  std::optional<Bootstrap> bootstrap;
  if (base) {
    const int64_t draws = std::min(record.facts ? record.facts->bootstrap_iters : kMostDraws, kMostDraws);
    bootstrap.emplace(base->values.size(), static_cast<size_t>(draws), 0, "curve");
  }

  std::vector<CurveStatistics> all;
  for (const CurveGroup* curve : groups) {
    CurveStatistics statistics;
    statistics.method = curve->method;
    const std::vector<AreaSummary> areas = curve_areas(*curve);
    const AreaSummary* area = area_of(areas, metric);
    const std::optional<ExampleCurve> examples =
        bootstrap ? example_curve(record, run_folder, *curve, metric) : std::nullopt;
    const bool resample =
        examples && examples->values.front().size() == bootstrap->n() && examples->fractions.size() > 1;
    if (area != nullptr) statistics.range = range_text(*area);
    if (area != nullptr) set_from_seeds(statistics.area, area->estimate);
    if (area != nullptr && resample) set_from_examples(statistics.area, *bootstrap, area_of_examples(*examples));
    if (area != nullptr && control_area != nullptr && curve != control) {
      if (const auto difference = area_minus_random(*area, *control_area))
        set_from_seeds(statistics.minus_random, *difference);
      if (statistics.minus_random.value && resample && control_examples &&
          control_examples->values.front().size() == bootstrap->n()) {
        std::vector<double> own = area_of_examples(*examples);
        const std::vector<double> random = area_of_examples(*control_examples);
        for (size_t i = 0; i < own.size(); ++i) own[i] -= random[i];
        set_from_examples(statistics.minus_random, *bootstrap, std::move(own));
      }
    }
    const std::map<int64_t, Curve> curves = curves_by_seed(*curve, metric);
    for (const DropLimit& limit : drop_limits(record, sweep, metric)) {
      const WithinRequest request{record, sweep.any().at_step, metric, limit.drop};
      CurveNumber number = within_over_seeds(request, curves);
      if (resample && number.value) add_within_interval(number, request, *bootstrap, *examples, base->values);
      statistics.within.push_back(std::move(number));
    }
    all.push_back(std::move(statistics));
  }
  return all;
}

}  // namespace headprune
