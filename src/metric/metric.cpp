#include "metric/metric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The value alone, without a resample.
double value_of(const ExampleMetric& metric) {
  return metric.resample(Bootstrap(metric.columns.n, /*draws=*/0, /*seed=*/0)).value;
}

}  // namespace

Resampled ExampleMetric::resample(const Bootstrap& bootstrap) const {
  if (const auto* of_counts = std::get_if<CountStatistic>(&statistic)) return bootstrap.resample(*of_counts);
  return bootstrap.resample(columns, std::get<SumStatistic>(statistic));
}

std::shared_ptr<const Bootstrap> SharedBootstrap::get(size_t n, const MetricInput& input) const {
  const std::lock_guard lock(mutex_);
  const auto draws = static_cast<size_t>(input.bootstrap_iters);
  if (!last_ || last_->n() != n || last_->draws() != draws || seed_ != input.seed) {
    last_ = std::make_shared<const Bootstrap>(n, draws, input.seed);
    seed_ = input.seed;
  }
  return last_;
}

Resampled SharedBootstrap::base(const std::string& name, const ExampleMetric& metric,
                                std::shared_ptr<const Bootstrap> bootstrap) const {
  const std::lock_guard lock(mutex_);
  Base& base = bases_[name];
  if (base.bootstrap != bootstrap || base.columns != metric.columns.columns) {
    base.resampled = metric.resample(*bootstrap);
    base.columns = metric.columns.columns;
    base.bootstrap = std::move(bootstrap);
  }
  return base.resampled;
}

bool all_finite(const Outcomes& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return std::isfinite(one.loss); });
}

ExampleMetric weighted_sums(const Outcomes& outcomes, const std::function<WeightedValue(const Outcome&)>& of_example,
                            SumStatistic statistic) {
  Columns columns{.n = outcomes.size(), .columns = {{}, {}}};
  for (const Outcome& outcome : outcomes) {
    const WeightedValue one = of_example(outcome);
    columns.columns[0].push_back(one.value * one.weight);
    columns.columns[1].push_back(one.weight);
  }
  return {.columns = std::move(columns), .statistic = std::move(statistic)};
}

MetricResult Metric::measure(const MetricInput& input, const MetricInfo& info, const SharedBootstrap& shared) const {
  MetricResult result;
  if (all_finite(input.outcomes) && (!input.base || all_finite(*input.base))) {
    result = measured(input, info, shared);
  } else {
    result.estimate.value = kNaN;
    result.estimate.n = std::ssize(input.outcomes);
    if (input.base) result.difference = Difference{.delta = kNaN, .stderr_ = {}, .ci95 = {}, .p = {}, .test = ""};
  }
  result.name = info.name;
  return result;
}

double ProportionMetric::value(const Outcomes& outcomes) const {
  if (!all_finite(outcomes) || outcomes.empty()) return kNaN;
  const auto hits = std::count_if(outcomes.begin(), outcomes.end(), [&](const Outcome& one) { return right(one); });
  return static_cast<double>(hits) / static_cast<double>(outcomes.size());
}

MetricResult ProportionMetric::measured(const MetricInput& input, const MetricInfo&, const SharedBootstrap&) const {
  const int64_t n = std::ssize(input.outcomes);
  MetricResult result;
  for (const Outcome& outcome : input.outcomes) result.examples.push_back(right(outcome) ? 1 : 0);
  result.estimate = wilson(std::count(result.examples.begin(), result.examples.end(), 1.0), n);
  if (input.base) {
    int64_t gained = 0, lost = 0;
    for (size_t i = 0; i < input.outcomes.size(); ++i) {
      const bool now = right(input.outcomes[i]), before = right(input.base->at(i));
      gained += now && !before;
      lost += !now && before;
    }
    result.difference = paired_accuracy_difference(gained, lost, n);
  }
  return result;
}

ExampleMetric MeanMetric::mean(const Outcomes& outcomes) const {
  return weighted_sums(
      outcomes, [this](const Outcome& outcome) { return of_example(outcome); },
      [](std::span<const double> sums) { return sums[0] / sums[1]; });
}

double MeanMetric::value(const Outcomes& outcomes) const {
  return all_finite(outcomes) && !outcomes.empty() ? value_of(mean(outcomes)) : kNaN;
}

MetricResult MeanMetric::measured(const MetricInput& input, const MetricInfo& info,
                                  const SharedBootstrap& shared) const {
  std::vector<double> values, weights;
  for (const Outcome& outcome : input.outcomes) {
    const WeightedValue one = of_example(outcome);
    values.push_back(one.value);
    weights.push_back(one.weight);
  }
  MetricResult result;
  result.estimate = weighted_mean_estimate(values, weights, info.range);
  const double mean_value = result.estimate.value;
  const double mean_weight = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  for (size_t i = 0; i < values.size(); ++i)  // the ratio, linearised
    result.examples.push_back(mean_value + weights[i] / mean_weight * (values[i] - mean_value));
  if (input.base) {
    const auto bootstrap = shared.get(input.outcomes.size(), input);
    const Resampled before = shared.base(info.name, mean(*input.base), bootstrap);
    result.difference = paired_bootstrap(mean(input.outcomes).resample(*bootstrap), before);
  }
  return result;
}

double CorpusMetric::value(const Outcomes& outcomes) const {
  return all_finite(outcomes) && !outcomes.empty() ? value_of(of_corpus(outcomes)) : kNaN;
}

MetricResult CorpusMetric::measured(const MetricInput& input, const MetricInfo& info,
                                    const SharedBootstrap& shared) const {
  const auto bootstrap = shared.get(input.outcomes.size(), input);
  const Resampled resampled = of_corpus(input.outcomes).resample(*bootstrap);
  MetricResult result;
  result.estimate = bootstrap_estimate(resampled);
  result.examples = resampled.pseudo_values();
  if (input.base)
    result.difference = paired_bootstrap(resampled, shared.base(info.name, of_corpus(*input.base), bootstrap));
  return result;
}

MeasuredMetric measured_metric(const std::string& name, DataKind kind) {
  const PluginEntry<Metric>* entry = Registry<Metric>::instance().find(name);
  if (entry == nullptr) throw std::logic_error("no metric " + name);
  const std::shared_ptr<Metric> metric = entry->make(*entry->make_options());
  const std::vector<DataKind> kinds = metric->kinds();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    throw std::logic_error("metric " + name + " is not defined for such data");
  MetricInfo info = metric->info(kind);
  info.name = name;
  return {.metric = metric, .info = std::move(info)};
}

std::vector<std::string> metric_names(DataKind kind) {
  std::vector<std::string> names;
  for (const std::string& name : Registry<Metric>::instance().names()) {
    const PluginEntry<Metric>* entry = Registry<Metric>::instance().find(name);
    const std::vector<DataKind> kinds = entry->make(*entry->make_options())->kinds();
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) names.push_back(name);
  }
  return names;
}

double loss_value(const Outcomes& outcomes) {
  return measured_metric("loss", DataKind::language).metric->value(outcomes);
}

}  // namespace headprune
