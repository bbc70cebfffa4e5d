// `regression`: one number for each sequence, by the squared error (transformers: num_labels 1, problem_type
// regression).
#include <cmath>

#include "task/losses.h"
#include "task/metrics.h"

namespace headprune {

enum class RegressionMetric { pearson, spearman, loss, mae };
template <>
struct EnumNames<RegressionMetric> {
  static constexpr std::pair<const char*, RegressionMetric> names[] = {{"pearson", RegressionMetric::pearson},
                                                                       {"spearman", RegressionMetric::spearman},
                                                                       {"loss", RegressionMetric::loss},
                                                                       {"mae", RegressionMetric::mae}};
};

namespace {

/// The outcomes with the absolute error in the place of the loss.
Outcomes absolute_errors(Outcomes outcomes) {
  for (Outcome& outcome : outcomes) outcome.loss = std::abs(outcome.predicted_number - outcome.number.value());
  return outcomes;
}

ExampleMetric absolute_error_metric(const Outcomes& outcomes) { return loss_metric(absolute_errors(outcomes)); }

MetricResult mean_absolute_error(const MetricInput& input, const SharedBootstrap& shared) {
  const Outcomes now = absolute_errors(input.outcomes), before = input.base ? absolute_errors(*input.base) : Outcomes();
  return mean_loss("mae",
                   {.outcomes = now,
                    .base = input.base ? &before : nullptr,
                    .bootstrap_iters = input.bootstrap_iters,
                    .seed = input.seed},
                   shared);
}

}  // namespace

class Regression : public Task {
 public:
  struct Options {
    std::vector<RegressionMetric> metrics = {RegressionMetric::pearson, RegressionMetric::spearman,
                                             RegressionMetric::loss};

    template <class V>
    void fields(V& v) {
      v("metrics", metrics,
        "what is measured, the first one in curves and tables: pearson and spearman (correlations of the numbers with "
        "their predictions), loss (mean squared error) and mae (mean absolute error)",
        not_empty);
    }
    CrossProblems problems() const { return repeated_metrics(metrics); }
  };

  explicit Regression(Options options) : options_(std::move(options)) {}
  DataKind data_kind() const override { return DataKind::numbered; }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all;
    for (const RegressionMetric metric : options_.metrics) all.push_back(metric_info(enum_name(metric)));
    return all;
  }

  torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) const override {
    return squared_errors(values, batch.numbers);  // [B]
  }

  /// `label_smoothing` has no meaning here; Experiment::problems() refuses it.
  torch::Tensor training_loss(const torch::Tensor& values, const Batch& batch, double) const override {
    return example_losses(values, batch).mean();
  }

  Outcomes outcomes(const torch::Tensor& values, const Batch& batch) const override {
    const torch::Tensor losses = example_losses(values, batch).to(torch::kCPU, torch::kFloat64);        // [B]
    const torch::Tensor predictions = values.squeeze(1).to(torch::kCPU, torch::kFloat64).contiguous();  // [B]
    const torch::Tensor numbers = batch.numbers.to(torch::kCPU);                                        // [B]
    Outcomes all(static_cast<size_t>(batch.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].loss = losses.const_data_ptr<double>()[i];
      all[i].predicted_number = predictions.const_data_ptr<double>()[i];
      all[i].number = numbers.const_data_ptr<double>()[i];
    }
    return all;
  }

  std::vector<MetricResult> evaluate(const MetricInput& input) const override {
    std::vector<MetricResult> results;
    for (const RegressionMetric metric : options_.metrics) results.push_back(evaluate_one(metric, input));
    return results;
  }

  double choice_value(const Outcomes& all) const override {
    switch (options_.metrics.front()) {
      case RegressionMetric::pearson:
        return metric_value(pearson_metric, all);
      case RegressionMetric::spearman:
        return metric_value(spearman_metric, all);
      case RegressionMetric::loss:
        return metric_value(loss_metric, all);
      default:
        return metric_value(absolute_error_metric, all);
    }
  }

 private:
  MetricResult evaluate_one(RegressionMetric metric, const MetricInput& input) const {
    switch (metric) {
      case RegressionMetric::pearson:
        return resampled_metric("pearson", pearson_metric, input, bootstrap_);
      case RegressionMetric::spearman:
        return resampled_metric("spearman", spearman_metric, input, bootstrap_);
      case RegressionMetric::loss:
        return mean_loss("loss", input, bootstrap_);
      default:
        return mean_absolute_error(input, bootstrap_);
    }
  }

  Options options_;
  SharedBootstrap bootstrap_;
};

namespace {
const Register<Task, Regression> register_regression{"regression", "one number for each sequence"};
}  // namespace

}  // namespace headprune
