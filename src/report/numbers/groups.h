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
#include "stats/crossed.h"

namespace headprune {

/// Level below which p or q counts as significant.
constexpr double kAlpha = 0.05;

/// A metric over the members of a group.
struct MetricSummary {
  std::string name;
  /// One measurement: its own estimate over examples. Several seeds, or several orders of one model: mean and interval
  /// under both sources of uncertainty (stats/crossed.h). `n` is always examples.
  Estimate estimate;
  std::string over;              // "examples", "seeds", "orders": what was repeated beside the examples
  std::optional<Crossed> parts;  // where something was: the variance of either source
  std::vector<double> seeds;     // one per seed, mean over its draws
  int64_t draws = 1;             // of the seed that has most
  double low = 0, high = 0;      // smallest and largest of all members
  /// From the unpruned model; absent for that model. `test` is empty where no test was possible, and nothing is marked
  /// then.
  std::optional<Difference> difference;
  std::optional<double> q;  // Benjamini-Hochberg over the printed table or curve; of a point that removes a head

  /// q below the level: what a star means.
  bool significant() const { return q && *q < kAlpha; }
};

/// Points that differ in nothing but seed and draw (and the head that a table chose to keep).
struct PointGroup {
  std::vector<const PointResult*> members = {};  // by seed, then draw; at least one
  std::vector<MetricSummary> metrics = {};       // in the order of the first member
  /// Of a table of single heads where seeds are other models: head 3 of one is not head 3 of another.
  std::optional<int64_t> seed = {};

  const PointResult& first() const { return *members.front(); }
  const MetricSummary* metric(const std::string& name) const;
};

/// A curve: points of one method in one sweep, by heads removed. q: over its points.
struct CurveGroup {
  std::string method, sweep, rule, scope, kind;
  std::optional<int64_t> at_step = {};  // of the weights that it is about; absent: the run's last
  /// Of an order from a file, which names heads, where seeds are other models: head 3 of one is not head 3 of another.
  std::optional<int64_t> seed = {};
  std::vector<PointGroup> points;

  /// "gradient_l1", "order from a file", "order from a file, seed 2".
  std::string name() const;
};

/// Masks that were listed by hand, each a row under its name, in the order of their file. q: over the list.
struct MaskList {
  std::string sweep;
  std::optional<int64_t> seed = {};  // where seeds are other models, whose head ids mean nothing to each other
  std::vector<PointGroup> points;

  /// Models with all heads, made smaller in another way: no masks.
  bool of_models() const { return points.front().first().other_model(); }
};

/// "0.812 [0.790, 0.832]", without an interval the value alone.
std::string estimate_text(const Estimate& estimate);
/// Value, standard error and 95 % interval as cells of a table; "N/A" for what there is not.
std::vector<std::string> estimate_cells(const Estimate& estimate);

/// All comparisons of masked with removed heads.
struct SurgerySummary {
  double worst = 0, tolerance = 0;  // of the mask with the largest difference; NaN is the worst
  int64_t unequal = 0;
};
SurgerySummary surgery_summary(const Record& record);

/// Whether a label belongs to the random control.
bool is_random(const Record& record, const std::string& method);
/// Seeds that have at least one point or score.
std::vector<int64_t> recorded_seeds(const Record& record);
/// The metric that tables and plots show: the first asked for. Empty while nothing is known of the task.
std::string headline_metric(const Record& record);
/// As recorded; where it is not, better when higher, with a range that ends nowhere.
MetricInfo metric_info(const Record& record, const std::string& metric);
bool higher_is_better(const Record& record, const std::string& metric);

/// What a sensitivity point is about: a head, "encoder.L3.H2", a group, "encoder.L3.G1", a block, "encoder.L3", or a
/// kind, "encoder".
std::string sensitivity_unit(const PointSpec& spec);

/// The unpruned model over all seeds, after `at_step` training steps where that is given; nothing while no seed has it.
std::optional<PointGroup> base_group(const Record& record, std::optional<int64_t> at_step = {});
/// Its metric; nothing while that was not measured.
std::optional<MetricSummary> base_metric(const Record& record, const std::string& metric,
                                         std::optional<int64_t> at_step = {});
/// The training steps, short of the end, whose models the run evaluated; ascending.
std::vector<int64_t> recorded_steps(const Record& record);
/// Sweeps and methods in the order of the configuration; without intervals where one_random_order(). Masks listed by
/// hand are no curve: mask_lists() has them.
std::vector<CurveGroup> curve_groups(const Record& record);
std::vector<MaskList> mask_lists(const Record& record);
/// Whether a curve is of one random order of one model.
bool one_random_order(const Record& record, const CurveGroup& curve);
/// What failed of a curve: points that it lacks.
std::vector<PointSpec> failed_points(const Record& record, const CurveGroup& curve);
/// The intact model trained as long as a fine-tuning sweep's points, by their step; empty where it was not asked for.
std::vector<PointGroup> control_groups(const Record& record, const std::string& sweep);
/// Tables in the order of the configuration; within one, by seed where heads are told apart, method, block, head, heads
/// removed. q: over one table of one method (and seed).
std::vector<PointGroup> sensitivity_groups(const Record& record);
/// Benjamini-Hochberg q of every single point by (point id, metric): the family is what its seed, method and draw have
/// in one sweep or table.
std::map<std::pair<std::string, std::string>, double> point_q(const Record& record);
/// Whether the same head id means the same head in every seed of the run.
bool heads_shared_by_seeds(const Record& record);
/// The seeds whose heads are shown apart; one entry without a value where all seeds are shown together.
std::vector<std::optional<int64_t>> seeds_of_heads(const Record& record);

}  // namespace headprune
