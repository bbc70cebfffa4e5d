// What a measurement was repeated over: the seeds of a run, or the orders of a random control. Every repetition meets
// the same examples. Internal to report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"
#include "stats/crossed.h"

namespace headprune {

/// One number of a member: a point's metric, its difference from the base, an area. `examples`: [n] as
/// MetricResult::examples; empty where they were not kept.
struct Measurement {
  int64_t seed = 0, draw = 0;
  double value = 0;
  std::vector<float> examples = {};
};

/// Measurements brought together.
struct Repetitions {
  std::string over;                   // "seeds", or "orders" of one model
  std::vector<Measurement> members;   // by seed, then draw
  std::vector<Measurement> repeated;  // one a seed, its draws averaged; or one an order
  std::vector<double> seeds;          // one a seed, mean over its draws

  Crossed crossed() const;
};

/// Seeds are repetitions where they differ, their draws averaged; else the draws are. `members` is not empty.
Repetitions repeated(const Record& record, std::vector<Measurement> members);

/// False where all seeds have one model: they differ in their random orders alone.
bool seeds_differ(const Record& record);

/// The same where seeds of one model are one measurement: the first of them.
Repetitions distinct(const Record& record, std::vector<Measurement> members);

/// `to` less `from`, one model each on the same examples: exact McNemar's where the metric's values are zeros and ones,
/// else Student's t over examples (test "paired_t"). Only delta where examples are missing.
Difference difference_of_models(const Measurement& from, const Measurement& to, const MetricInfo& metric);

/// Whether all measurements are one: the same value from the same examples.
bool all_the_same(const std::vector<Measurement>& members);

/// Each repetition's difference from `other`, repetition by repetition. Nothing where they do not pair up.
std::optional<Repetitions> paired_difference(const Repetitions& one, const Repetitions& other);

/// A metric of a point, and its difference from the unpruned model (examples only where the base's are there too).
std::optional<Measurement> measured_value(const Record& record, const PointResult& point, const std::string& metric);
std::optional<Measurement> measured_difference(const Record& record, const PointResult& point,
                                               const std::string& metric);

}  // namespace headprune
