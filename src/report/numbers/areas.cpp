#include "report/numbers/areas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/text/text_table.h"
#include "stats/curve.h"

namespace headprune {
namespace {

/// A mean of proportions is none of zeros and ones.
MetricInfo info_of_area(const Record& record, const std::string& metric) {
  MetricInfo info = metric_info(record, metric);
  info.proportion = false;
  return info;
}

/// A member's points in ascending order of fractions.
struct MemberCurve {
  Curve curve;
  std::vector<Measurement> points;
};

/// The area is linear in the points, so each example has an area of its own.
Measurement area_of_member(const MemberCurve& member, double area) {
  Measurement measured{member.points.front().seed, member.points.front().draw, area, {}};
  const size_t n = member.points.front().examples.size();
  for (const Measurement& point : member.points)
    if (point.examples.size() != n) return measured;
  const double range = member.curve.back().fraction - member.curve.front().fraction;
  std::vector<double> sums(n, 0.0);
  for (size_t p = 1; p < member.points.size(); ++p) {
    const double weight = 0.5 * (member.curve[p].fraction - member.curve[p - 1].fraction) / range;
    for (size_t i = 0; i < n; ++i)
      sums[i] += weight * (member.points[p].examples[i] + member.points[p - 1].examples[i]);
  }
  measured.examples.assign(sums.begin(), sums.end());
  return measured;
}

std::optional<AreaSummary> area_summary(const Record& record, const CurveGroup& curve, const std::string& metric) {
  std::map<std::pair<int64_t, int64_t>, MemberCurve> members;  // by seed and draw
  int64_t n = 0;
  for (const PointGroup& group : curve.points) {
    for (const PointResult* point : group.members) {
      std::optional<Measurement> value = measured_value(record, *point, metric);
      if (!value) continue;
      MemberCurve& member = members[{point->spec.seed, point->spec.draw.value_or(0)}];
      member.curve.push_back({point->fraction, value->value});
      member.points.push_back(std::move(*value));
      n = point->metric(metric)->estimate.n;
    }
  }
  // On a grid with a hole an area is of another curve.
  for (const PointSpec& failed : failed_points(record, curve)) members.erase({failed.seed, failed.draw.value_or(0)});
  if (members.empty()) return std::nullopt;
  AreaSummary area;
  area.metric = metric;
  area.from = members.begin()->second.curve.front().fraction;
  area.to = members.begin()->second.curve.back().fraction;
  std::vector<Measurement> areas;
  std::map<int64_t, int64_t> draws;
  for (const auto& [key, member] : members) {
    const std::optional<double> value = curve_area(member.curve);
    if (!value || member.curve.front().fraction != area.from || member.curve.back().fraction != area.to)
      return std::nullopt;
    areas.push_back(area_of_member(member, *value));
    area.draws = std::max(area.draws, ++draws[key.first]);
  }
  const auto [low, high] = std::minmax_element(
      areas.begin(), areas.end(), [](const Measurement& a, const Measurement& b) { return a.value < b.value; });
  area.low = low->value;
  area.high = high->value;
  // Seeds of one model are one measurement.
  if (!seeds_differ(record) && area.draws == 1 && all_the_same(areas)) areas.erase(areas.begin() + 1, areas.end());
  area.repetitions = repeated(record, std::move(areas));
  area.estimate = crossed_estimate(area.repetitions.crossed(), info_of_area(record, metric));
  area.estimate.n = n;
  if (one_random_order(record, curve)) {  // what it is says nothing of other orders
    area.estimate.stderr_.reset();
    area.estimate.ci95.reset();
    area.estimate.interval.clear();
  }
  return area;
}

/// The areas of each random order, over the seeds where these differ.
std::vector<double> order_areas(const Repetitions& random) {
  std::vector<double> areas;
  if (random.over == "orders") {
    for (const Measurement& order : random.repeated) areas.push_back(order.value);
    return areas;
  }
  std::map<int64_t, std::vector<double>> by_draw;
  for (const Measurement& member : random.members) by_draw[member.draw].push_back(member.value);
  for (const auto& [draw, values] : by_draw) {
    if (values.size() != random.repeated.size()) continue;  // a seed lacks it
    double sum = 0;
    for (const double value : values) sum += value;
    areas.push_back(sum / static_cast<double>(values.size()));
  }
  return areas;
}

/// The method's area beside each repetition of the control.
std::optional<Repetitions> beside(const Repetitions& method, const Repetitions& random) {
  if (random.over == "seeds") return method.over == "seeds" ? std::optional(method) : std::nullopt;
  if (method.repeated.size() != 1) return std::nullopt;
  Repetitions same = random;
  for (Measurement& one : same.repeated) {
    one.value = method.repeated.front().value;
    one.examples = method.repeated.front().examples;
  }
  return same;
}

}  // namespace

std::vector<AreaSummary> curve_areas(const Record& record, const CurveGroup& curve) {
  std::vector<AreaSummary> areas;
  for (const MetricSummary& metric : curve.points.front().metrics)
    if (auto area = area_summary(record, curve, metric.name)) areas.push_back(std::move(*area));
  return areas;
}

const AreaSummary* area_of(const std::vector<AreaSummary>& areas, const std::string& metric) {
  for (const AreaSummary& area : areas) {
    if (area.metric == metric) return &area;
  }
  return nullptr;
}

std::string range_text(const AreaSummary& area) { return fmt::format("{:.4g} to {:.4g}", area.from, area.to); }

std::optional<AgainstRandom> against_random(const Record& record, const AreaSummary& area, const AreaSummary& random) {
  if (area.from != random.from || area.to != random.to) return std::nullopt;
  const std::vector<double> orders = order_areas(random.repetitions);
  const std::optional<Repetitions> method = beside(area.repetitions, random.repetitions);
  if (!method || orders.empty()) return std::nullopt;
  const auto difference = paired_difference(*method, random.repetitions);
  if (!difference) return std::nullopt;
  AgainstRandom against;
  against.difference = crossed_difference(difference->crossed(), info_of_area(record, area.metric));
  against.difference.p.reset();
  against.difference.test.clear();
  if (difference->over == "orders" && difference->repeated.size() < 2) {  // one order says nothing of others
    against.difference.ci95.reset();
    against.difference.stderr_.reset();
  }
  const bool higher = higher_is_better(record, area.metric);
  for (const double order : orders)
    against.as_good += (higher ? order >= area.estimate.value : order <= area.estimate.value) ? 1 : 0;
  against.orders = std::ssize(orders);
  against.p = static_cast<double>(against.as_good + 1) / static_cast<double>(against.orders + 1);
  return against;
}

std::string rank_text(const AgainstRandom& against, size_t chosen_of) {
  std::string text = fmt::format("{} of {} at least as good, p = {:.3g}", against.as_good,
                                 count_text(against.orders, "random order"), against.p);
  if (chosen_of > 1)
    text += fmt::format(", {:.3g} for the best of {} (Bonferroni)",
                        std::min(1.0, against.p * static_cast<double>(chosen_of)), chosen_of);
  const int64_t needed = kEnoughOrders * static_cast<int64_t>(chosen_of);
  if (against.orders < needed) text += fmt::format("; p < 0.05 takes {} orders", needed);
  return text;
}

}  // namespace headprune
