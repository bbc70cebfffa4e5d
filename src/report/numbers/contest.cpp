#include "report/numbers/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace headprune {
namespace {

bool fine_tuned(const CurveGroup& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const PointGroup& point) { return point.first().fine_tuned; });
}

int64_t removed_by(const PointGroup& point) { return point.first().spec.heads_removed; }

/// Numbers of heads that several of the curves have.
std::vector<int64_t> shared_numbers(const std::vector<CurveGroup>& curves, int64_t heads_total) {
  std::map<int64_t, int> curves_with;
  for (const CurveGroup& curve : curves)
    for (const PointGroup& point : curve.points) ++curves_with[removed_by(point)];
  std::vector<int64_t> shared;
  for (const auto& [removed, count] : curves_with)
    if (count > 1 && removed > 0 && removed < heads_total) shared.push_back(removed);
  return shared;
}

}  // namespace

const PointGroup* NamedCurve::at(int64_t removed) const {
  const auto found = std::find_if(curve->points.begin(), curve->points.end(),
                                  [&](const PointGroup& point) { return removed_by(point) == removed; });
  return found == curve->points.end() ? nullptr : &*found;
}

std::vector<NamedCurve> Contest::named() const {
  std::vector<NamedCurve> all;
  for (const CurveGroup& curve : curves)
    all.push_back({(curve.name() == curve.sweep ? curve.sweep : fmt::format("{}, {}", curve.sweep, curve.name())) +
                       (fine_tuned(curve) ? " (weights of its own)" : ""),
                   &curve});
  return all;
}

std::vector<Contest> contests(const Record& record) {
  std::map<std::string, Contest> by_kind;
  std::map<std::string, std::set<std::string>> sweeps;
  for (CurveGroup& curve : curve_groups(record)) {
    if (curve.at_step || curve.seed) continue;
    Contest& contest = by_kind[curve.kind];
    contest.kind = curve.kind;
    contest.heads_total = curve.points.front().first().heads_total;
    if (!is_random(record, curve.method)) {
      sweeps[curve.kind].insert(curve.sweep);
      contest.curves.push_back(std::move(curve));
    } else if (contest.controls.empty() && !fine_tuned(curve)) {
      contest.controls.push_back(std::move(curve));
    }
  }
  for (MaskList& list : mask_lists(record)) {
    const std::string& kind = list.points.front().first().spec.kind;
    if (list.of_models() || !by_kind.contains(kind)) continue;
    sweeps[kind].insert(list.sweep);
    by_kind[kind].masks.push_back(std::move(list));
  }
  std::vector<Contest> found;
  for (auto& [kind, contest] : by_kind) {
    if (sweeps[kind].size() < 2 || contest.curves.empty()) continue;
    contest.removed = shared_numbers(contest.curves, contest.heads_total);
    found.push_back(std::move(contest));
  }
  return found;
}

PointCost cost_of(const PointGroup& point) {
  PointCost cost;
  for (const PointResult* member : point.members) {
    cost.forward += static_cast<double>(member->forward);
    cost.backward += static_cast<double>(member->backward);
  }
  const auto members = static_cast<double>(point.members.size());
  return {cost.forward / members, cost.backward / members};
}

}  // namespace headprune
