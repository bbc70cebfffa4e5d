// Points of a record brought together: the same point over several seeds and draws becomes one value with one
// uncertainty. results.json, metrics.json and the terminal show these; the CSV files show every point by itself.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/journal.h"

namespace headprune {

/// Level below which p or q counts as significant.
constexpr double kAlpha = 0.05;

/// A metric over the members of a group.
struct MetricSummary {
  std::string name;
  /// One member: its own estimate over examples. One seed with several draws: mean and t interval over the draws.
  /// Several seeds: mean and t interval over the seeds, each seed the mean of its draws. `n` is always examples.
  Estimate estimate;
  std::string over;           // "examples", "draws", "seeds": what the interval is taken over
  std::vector<double> seeds;  // one per seed, mean over its draws
  int64_t draws = 1;          // of the seed that has most
  double low = 0, high = 0;   // smallest and largest of all members
  /// From the unpruned model; absent for that model. Over seeds, p is that of a sign-flip test where 0.05 is within its
  /// reach (6 seeds), and `test` is "none" otherwise, and over draws.
  std::optional<Difference> difference;
  std::optional<double> q;  // Benjamini-Hochberg; sensitivity only, one member only
};

/// Points that differ in nothing but seed and draw (and, in all_but_one, the head kept).
struct PointGroup {
  std::vector<const PointResult*> members;  // by seed, then draw; at least one
  std::vector<MetricSummary> metrics;       // in the order of the first member

  const PointResult& first() const { return *members.front(); }
  const MetricSummary* metric(const std::string& name) const;
};

/// A curve: points of one method in one sweep, by heads removed.
struct CurveGroup {
  std::string method, sweep, rule, scope, kind;
  std::optional<int64_t> at_step = {};  // of the weights that it is about; absent: the run's last
  std::vector<PointGroup> points;
};

/// Area under a curve (stats/curve.h), by seed and over seeds.
struct AreaSummary {
  std::string metric;
  double from = 0, to = 0;  // fractions between which it was taken
  Estimate estimate;        // one seed: the value alone; several: mean and t interval; n = seeds
  std::vector<int64_t> seed_ids;
  std::vector<double> seeds;  // one per seed, mean over its draws
  int64_t draws = 1;
  double low = 0, high = 0;  // smallest and largest of all members
};

/// "0.812 [0.790, 0.832]", without an interval the value alone.
std::string estimate_text(const Estimate& estimate);
/// Value, standard error and 95 % interval as cells of a table; "N/A" for what there is not.
std::vector<std::string> estimate_cells(const Estimate& estimate);

/// All comparisons of masked with removed heads.
struct SurgerySummary {
  double worst = 0, tolerance = 0;  // NaN is the worst
  int64_t unequal = 0;
};
SurgerySummary surgery_summary(const Record& record);

/// Whether a label belongs to the random control.
bool is_random(const Record& record, const std::string& method);
/// Seeds that have at least one point or score.
std::vector<int64_t> recorded_seeds(const Record& record);
/// The metric that tables and plots show: the first asked for. Empty while nothing is known of the task.
std::string headline_metric(const Record& record);
/// True where facts are missing.
bool higher_is_better(const Record& record, const std::string& metric);

/// What a sensitivity point is about: "encoder.L3.H2" in leave_one_out, "encoder.L3" in tables of layers, "encoder" in
/// tables of kinds.
std::string sensitivity_unit(const PointSpec& spec);

/// The unpruned model over all seeds, after `at_step` training steps where that is given; nothing while no seed has it.
std::optional<PointGroup> base_group(const Record& record, std::optional<int64_t> at_step = {});
/// Its metric; nothing while that was not measured.
std::optional<MetricSummary> base_metric(const Record& record, const std::string& metric,
                                         std::optional<int64_t> at_step = {});
/// The training steps, short of the end, whose models the run evaluated; ascending.
std::vector<int64_t> recorded_steps(const Record& record);
/// Sweeps and methods in the order of the configuration.
std::vector<CurveGroup> curve_groups(const Record& record);
/// Tables in the order of the configuration; within one, by method, block, head, heads removed.
std::vector<PointGroup> sensitivity_groups(const Record& record);

/// One for each metric whose curve has the same end points for every seed and draw; metrics with a non-finite value or
/// a single fraction are left out.
std::vector<AreaSummary> curve_areas(const CurveGroup& curve);
/// Area minus the mean area of the random draws, paired by seed. Nothing without a control that has the same seeds and
/// end points.
std::optional<Estimate> area_minus_random(const AreaSummary& area, const AreaSummary& random);

/// Benjamini-Hochberg q of every sensitivity point that has a p and removes a head, by (point id, metric). One family
/// is one table, metric and seed.
std::map<std::pair<std::string, std::string>, double> sensitivity_q(const Record& record);

}  // namespace headprune
