// Metrics as functions of outcomes, each with its uncertainty and its paired difference from the unpruned model
// (docs/definitions.md "Metrics" and "One model").
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "stats/bootstrap.h"
#include "task/task.h"

namespace headprune {

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
  /// Metric `name` of the unpruned model, which every point of a seed is compared with: resampled once.
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

/// The rule that a task's `metrics` are all different.
template <class Metric>
CrossProblems repeated_metrics(const std::vector<Metric>& metrics) {
  if (std::set<Metric>(metrics.begin(), metrics.end()).size() == metrics.size()) return {};
  return {{"metrics", "a metric is listed twice"}};
}

/// Number of labels: what the outcomes say, or else one more than the largest label that occurs.
int64_t label_count(const Outcomes& outcomes);
/// Whether every example's loss is finite. Where one is not, every metric is NaN without an interval.
bool all_finite(const Outcomes& outcomes);

/// Fraction of examples whose prediction is the target: Wilson interval, exact McNemar test.
MetricResult accuracy(const MetricInput& input);
/// Sum of losses over sum of weights: normal interval within the metric's range, paired bootstrap.
MetricResult mean_loss(const std::string& name, const MetricInput& input, const SharedBootstrap& shared);
/// Any other metric: BCa interval, paired bootstrap.
MetricResult resampled_metric(const std::string& name, ExampleMetric (*make)(const Outcomes&), const MetricInput& input,
                              const SharedBootstrap& shared);

/// The metric without uncertainty.
double accuracy_value(const Outcomes& outcomes);
double metric_value(ExampleMetric (*make)(const Outcomes&), const Outcomes& outcomes);
/// The metric `loss`: examples weigh by their positions, as in every other number of that name.
double loss_value(const Outcomes& outcomes);

/// sum(w l) / sum(w): nats per position that receives loss.
ExampleMetric loss_metric(const Outcomes& outcomes);
/// exp of that.
ExampleMetric perplexity_metric(const Outcomes& outcomes);
/// Two labels: F1 of Outcome::positive. More: the unweighted mean of the labels' F1 (macro), over the labels that occur
/// as target or prediction. A label never predicted right has F1 0.
ExampleMetric f1_metric(const Outcomes& outcomes);
/// Matthews correlation; for more than two labels R_K (Gorodkin 2004). 0 when all targets or all predictions are equal.
ExampleMetric matthews_metric(const Outcomes& outcomes);
/// Of the numbers and their predictions, Pearson's correlation and Spearman's (average ranks, taken anew in every
/// resample). 0 when all numbers or all predictions are equal; predictions are where they differ by less than a
/// millionth of the largest, which is float32's rounding: without heads, a model says the same of every text.
ExampleMetric pearson_metric(const Outcomes& outcomes);
ExampleMetric spearman_metric(const Outcomes& outcomes);

}  // namespace headprune
