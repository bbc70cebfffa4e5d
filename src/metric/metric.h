// Metrics: functions of outcomes, each with its uncertainty and its paired difference from the unpruned model
// (docs/definitions.md "Metrics" and "One model"). A metric is a plug-in, one file; a task offers those that are
// defined for its kind of data, and the record carries what a reader of the numbers must know of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "config/registry.h"
#include "data/dataset.h"
#include "metric/outcome.h"
#include "record/point.h"
#include "stats/bootstrap.h"
#include "stats/metric_info.h"

namespace headprune {

struct MetricInput {
  const Outcomes& outcomes;
  const Outcomes* base = nullptr;  // the unpruned model's, same examples; absent for the base itself
  int64_t bootstrap_iters = 10000;
  uint64_t seed = 0;
};

/// A metric of these examples: a function of the sums of its columns, or of how often each example is there.
struct ExampleMetric {
  Columns columns;  // one row an example; what a CountStatistic looks at stands here too
  std::variant<SumStatistic, CountStatistic> statistic;

  Resampled resample(const Bootstrap& bootstrap) const;
};

/// Resamples shared by every metric and point over as many examples: differences between points are paired, and the
/// resamples are drawn once.
class SharedBootstrap {
 public:
  std::shared_ptr<const Bootstrap> get(size_t n, const MetricInput& input) const;
  /// `metric` (whose name it is) of the unpruned model, which every point of a seed is compared with: resampled once.
  Resampled base(const std::string& name, const ExampleMetric& metric,
                 std::shared_ptr<const Bootstrap> bootstrap) const;

 private:
  struct Base {
    std::shared_ptr<const Bootstrap> bootstrap;
    std::vector<std::vector<double>> columns;
    Resampled resampled;
  };
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Bootstrap> last_;
  mutable uint64_t seed_ = 0;
  mutable std::map<std::string, Base> bases_;  // by metric
};

/// One metric. It derives from one of the three classes below, which say how it is computed, and states the rest.
class Metric {
 public:
  virtual ~Metric() = default;
  /// The kinds of data whose outcomes have what it looks at.
  virtual std::vector<DataKind> kinds() const = 0;
  /// Direction, range and unit, on data of one of these kinds. The name is the one that it is registered under.
  virtual MetricInfo info(DataKind kind) const = 0;
  /// Whether it looks at texts that the model must write first.
  virtual bool of_texts() const { return false; }
  /// Whether it means nothing where all predictions are alike: what stands for it then is 0, or what guessing gives.
  virtual bool needs_different_predictions() const { return false; }
  /// Why it cannot be had of these data; empty where it can.
  virtual std::string missing(const Dataset& /*dataset*/) const { return ""; }
  /// How it was computed, where that has more than one definition: sacreBLEU's signature.
  virtual std::string signature() const { return ""; }

  /// Without uncertainty. NaN without examples, and where a loss is not finite.
  virtual double value(const Outcomes& outcomes) const = 0;
  /// With uncertainty and, given a base, the paired difference. Non-finite losses: NaN without an interval, since then
  /// every number of the model is meaningless. `info` is its own.
  MetricResult measure(const MetricInput& input, const MetricInfo& info, const SharedBootstrap& shared) const;

 protected:
  /// The same of outcomes that are all finite.
  virtual MetricResult measured(const MetricInput& input, const MetricInfo& info,
                                const SharedBootstrap& shared) const = 0;
};

/// The share of examples that are right: Wilson interval, exact McNemar test.
class ProportionMetric : public Metric {
 public:
  double value(const Outcomes& outcomes) const final;

 protected:
  virtual bool right(const Outcome& outcome) const = 0;
  MetricResult measured(const MetricInput& input, const MetricInfo& info, const SharedBootstrap& shared) const final;
};

struct WeightedValue {
  double value = 0, weight = 1;
};

/// sum(w x) / sum(w) over examples: normal interval within the metric's range, paired bootstrap.
class MeanMetric : public Metric {
 public:
  double value(const Outcomes& outcomes) const final;

 protected:
  virtual WeightedValue of_example(const Outcome& outcome) const = 0;
  MetricResult measured(const MetricInput& input, const MetricInfo& info, const SharedBootstrap& shared) const final;

 private:
  ExampleMetric mean(const Outcomes& outcomes) const;
};

/// Any other function of all examples: BCa interval, paired bootstrap.
class CorpusMetric : public Metric {
 public:
  double value(const Outcomes& outcomes) const final;

 protected:
  virtual ExampleMetric of_corpus(const Outcomes& outcomes) const = 0;
  MetricResult measured(const MetricInput& input, const MetricInfo& info, const SharedBootstrap& shared) const final;
};

/// What a metric without options has for Options.
struct NoOptions {
  template <class V>
  void fields(V&) {}
};

/// Whether every example's loss is finite.
bool all_finite(const Outcomes& outcomes);
/// A function of sum(w x) and sum(w), in this order.
ExampleMetric weighted_sums(const Outcomes& outcomes, const std::function<WeightedValue(const Outcome&)>& of_example,
                            SumStatistic statistic);

/// A metric that a task was asked for.
struct MeasuredMetric {
  std::shared_ptr<const Metric> metric;
  MetricInfo info;
};
/// The metric of this name on data of a kind it is defined for. Throws std::logic_error for another name or kind.
MeasuredMetric measured_metric(const std::string& name, DataKind kind);
/// Names of the metrics that are defined for such data, sorted.
std::vector<std::string> metric_names(DataKind kind);
/// The metric `loss`: examples weigh by their positions, as in every other number of that name.
double loss_value(const Outcomes& outcomes);

/// An entry of a task's `metrics`: the name of a metric that is defined for its data.
template <DataKind kind>
class MetricOf {
 public:
  MetricOf() = default;
  MetricOf(const char* name) : name_(name) {}  // NOLINT: lists of names are what options are made of
  static std::vector<std::string> choices() { return metric_names(kind); }
  const std::string& choice() const { return name_; }
  void choose(const std::string& name) { name_ = name; }

 private:
  std::string name_;
};

template <DataKind kind>
std::vector<MeasuredMetric> measured_metrics(const std::vector<MetricOf<kind>>& names) {
  std::vector<MeasuredMetric> all;
  for (const MetricOf<kind>& name : names) all.push_back(measured_metric(name.choice(), kind));
  return all;
}

/// The rule that a task's `metrics` are all different.
template <DataKind kind>
CrossProblems repeated_metrics(const std::vector<MetricOf<kind>>& metrics) {
  std::set<std::string> names;
  for (const MetricOf<kind>& metric : metrics) names.insert(metric.choice());
  if (names.size() == metrics.size()) return {};
  return {{"metrics", "a metric is listed twice"}};
}

}  // namespace headprune
