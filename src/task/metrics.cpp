#include "task/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stats/correlation.h"
#include "stats/intervals.h"
#include "stats/tests.h"

namespace headprune {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool right(const Outcome& outcome) { return outcome.predicted == outcome.target; }

/// Value NaN, and a NaN difference where there is a base: non-finite logits make every metric meaningless.
MetricResult nonfinite(const std::string& name, const MetricInput& input) {
  MetricResult result;
  result.name = name;
  result.estimate.value = kNaN;
  result.estimate.n = static_cast<int64_t>(input.outcomes.size());
  if (input.base) result.difference = Difference{.delta = kNaN, .stderr_ = {}, .ci95 = {}, .p = {}, .test = ""};
  return result;
}

bool usable(const MetricInput& input) { return all_finite(input.outcomes) && (!input.base || all_finite(*input.base)); }

/// Three one-hot column groups over labels: right predictions, predictions, targets.
Columns confusion_columns(const Outcomes& outcomes) {
  const auto labels = static_cast<size_t>(label_count(outcomes));
  Columns columns{.n = outcomes.size(), .columns = {}};
  columns.columns.assign(3 * labels, std::vector<double>(outcomes.size(), 0.0));
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const auto target = static_cast<size_t>(outcomes[i].target);
    if (right(outcomes[i])) columns.columns[target][i] = 1;
    if (outcomes[i].predicted >= 0) columns.columns[labels + static_cast<size_t>(outcomes[i].predicted)][i] = 1;
    columns.columns[2 * labels + target][i] = 1;
  }
  return columns;
}

double f1_of(double hits, double predictions, double targets) {
  return hits > 0 ? 2 * hits / (predictions + targets) : 0.0;
}

double f1_value(std::span<const double> sums, size_t labels, size_t positive) {
  if (labels == 2) return f1_of(sums[positive], sums[2 + positive], sums[4 + positive]);
  double sum = 0;
  int64_t occurring = 0;
  for (size_t label = 0; label < labels; ++label) {
    const double predictions = sums[labels + label], targets = sums[2 * labels + label];
    if (predictions + targets == 0) continue;
    sum += f1_of(sums[label], predictions, targets);
    ++occurring;
  }
  return occurring > 0 ? sum / static_cast<double>(occurring) : 0.0;
}

double matthews_value(std::span<const double> sums, size_t labels) {
  double hits = 0, n = 0, both = 0, predictions = 0, targets = 0;
  for (size_t label = 0; label < labels; ++label) {
    const double p = sums[labels + label], t = sums[2 * labels + label];
    hits += sums[label];
    n += t;
    both += p * t;
    predictions += p * p;
    targets += t * t;
  }
  const double spread = (n * n - predictions) * (n * n - targets);
  return spread > 0 ? (hits * n - both) / std::sqrt(spread) : 0.0;
}

/// Two columns: the numbers, and their predictions. Moved so that each begins with 0, which no correlation notices:
/// sums of squares then lose no digits to a large mean, and a constant column is exactly 0.
Columns number_columns(const Outcomes& outcomes) {
  constexpr double kRounding = 1e-6;
  std::vector<double> numbers, predictions;
  double lowest = INFINITY, highest = -INFINITY;
  for (const Outcome& outcome : outcomes) {
    numbers.push_back(outcome.number.value() - outcomes.front().number.value());
    predictions.push_back(outcome.predicted_number - outcomes.front().predicted_number);
    lowest = std::min(lowest, outcome.predicted_number);
    highest = std::max(highest, outcome.predicted_number);
  }
  if (highest - lowest <= kRounding * std::max(std::abs(lowest), std::abs(highest)))
    predictions.assign(predictions.size(), 0.0);
  return {.n = outcomes.size(), .columns = {std::move(numbers), std::move(predictions)}};
}

ExampleMetric weighted_sums(const Outcomes& outcomes, SumStatistic statistic) {
  Columns columns{.n = outcomes.size(), .columns = {{}, {}}};
  for (const Outcome& outcome : outcomes) {
    columns.columns[0].push_back(outcome.loss * outcome.weight);
    columns.columns[1].push_back(outcome.weight);
  }
  return {.columns = std::move(columns), .statistic = std::move(statistic)};
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

int64_t label_count(const Outcomes& outcomes) {
  int64_t count = 0;
  for (const Outcome& outcome : outcomes)
    count = std::max({count, outcome.labels, outcome.target + 1, outcome.predicted + 1});
  return std::max<int64_t>(count, 2);
}

bool all_finite(const Outcomes& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return std::isfinite(one.loss); });
}

double accuracy_value(const Outcomes& outcomes) {
  if (!all_finite(outcomes) || outcomes.empty()) return kNaN;
  return static_cast<double>(std::count_if(outcomes.begin(), outcomes.end(), right)) /
         static_cast<double>(outcomes.size());
}

double metric_value(ExampleMetric (*make)(const Outcomes&), const Outcomes& outcomes) {
  if (!all_finite(outcomes) || outcomes.empty()) return kNaN;
  return make(outcomes).resample(Bootstrap(outcomes.size(), /*draws=*/0, /*seed=*/0)).value;
}

double loss_value(const Outcomes& outcomes) { return metric_value(loss_metric, outcomes); }

MetricResult accuracy(const MetricInput& input) {
  if (!usable(input)) return nonfinite("accuracy", input);
  const auto n = static_cast<int64_t>(input.outcomes.size());
  MetricResult result;
  result.name = "accuracy";
  result.estimate = wilson(std::count_if(input.outcomes.begin(), input.outcomes.end(), right), n);
  for (const Outcome& outcome : input.outcomes) result.examples.push_back(right(outcome) ? 1 : 0);
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

MetricResult mean_loss(const std::string& name, const MetricInput& input, const SharedBootstrap& shared) {
  if (!usable(input)) return nonfinite(name, input);
  std::vector<double> losses, weights;
  for (const Outcome& outcome : input.outcomes) {
    losses.push_back(outcome.loss);
    weights.push_back(outcome.weight);
  }
  MetricResult result;
  result.name = name;
  result.estimate = weighted_mean_estimate(losses, weights, metric_info(name).range);
  const double mean = result.estimate.value;
  const double mean_weight = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  for (size_t i = 0; i < losses.size(); ++i)  // the ratio, linearised
    result.examples.push_back(mean + weights[i] / mean_weight * (losses[i] - mean));
  if (input.base) {
    const auto bootstrap = shared.get(input.outcomes.size(), input);
    const ExampleMetric now = loss_metric(input.outcomes), before = loss_metric(*input.base);
    result.difference = paired_bootstrap(now.resample(*bootstrap), shared.base(name, before, bootstrap));
  }
  return result;
}

MetricResult resampled_metric(const std::string& name, ExampleMetric (*make)(const Outcomes&), const MetricInput& input,
                              const SharedBootstrap& shared) {
  if (!usable(input)) return nonfinite(name, input);
  const auto bootstrap = shared.get(input.outcomes.size(), input);
  const ExampleMetric now = make(input.outcomes);
  const Resampled resampled = now.resample(*bootstrap);
  MetricResult result;
  result.name = name;
  result.estimate = bootstrap_estimate(resampled);
  result.examples = resampled.pseudo_values();
  if (input.base) {
    const ExampleMetric before = make(*input.base);
    result.difference = paired_bootstrap(resampled, shared.base(name, before, bootstrap));
  }
  return result;
}

ExampleMetric loss_metric(const Outcomes& outcomes) {
  return weighted_sums(outcomes, [](std::span<const double> sums) { return sums[0] / sums[1]; });
}

ExampleMetric perplexity_metric(const Outcomes& outcomes) {
  return weighted_sums(outcomes, [](std::span<const double> sums) { return std::exp(sums[0] / sums[1]); });
}

ExampleMetric f1_metric(const Outcomes& outcomes) {
  const auto labels = static_cast<size_t>(label_count(outcomes));
  const size_t positive = outcomes.empty() ? 1 : static_cast<size_t>(outcomes.front().positive);
  return {.columns = confusion_columns(outcomes),
          .statistic = [labels, positive](std::span<const double> sums) { return f1_value(sums, labels, positive); }};
}

ExampleMetric matthews_metric(const Outcomes& outcomes) {
  const auto labels = static_cast<size_t>(label_count(outcomes));
  return {.columns = confusion_columns(outcomes),
          .statistic = [labels](std::span<const double> sums) { return matthews_value(sums, labels); }};
}

ExampleMetric pearson_metric(const Outcomes& outcomes) {
  Columns columns = number_columns(outcomes);
  const std::vector<double> a = columns.columns[0], b = columns.columns[1];
  for (const auto& [left, right] : {std::pair(&a, &a), std::pair(&b, &b), std::pair(&a, &b)}) {
    std::vector<double>& product = columns.columns.emplace_back();
    for (size_t i = 0; i < a.size(); ++i) product.push_back((*left)[i] * (*right)[i]);
  }
  columns.columns.emplace_back(a.size(), 1.0);
  return {.columns = std::move(columns), .statistic = [](std::span<const double> sums) {
            return correlation_of_sums(
                {.n = sums[5], .a = sums[0], .b = sums[1], .aa = sums[2], .bb = sums[3], .ab = sums[4]});
          }};
}

ExampleMetric spearman_metric(const Outcomes& outcomes) {
  Columns columns = number_columns(outcomes);
  CountStatistic of_counts = SpearmanOfCounts(columns.columns[0], columns.columns[1]);
  return {.columns = std::move(columns), .statistic = std::move(of_counts)};
}

}  // namespace headprune
