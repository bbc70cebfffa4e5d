// The interface of a task: per-example losses for scoring and training, per-example outcomes for metrics.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "core/torch.h"
#include "data/source.h"
#include "metric/metric.h"
#include "model/model.h"

namespace headprune {

/// A pass over a batch after which the model is to write a text for each example.
struct WriteInput {
  Model& model;
  const Batch& batch;
  const torch::Tensor& memory;  // ModelOutput's
  const PerBlock& gates;        // of the pass, [H] each
  const Tokenizer& tokenizer;   // the dataset's
};

/// A task is measured by the metrics that it was made with, in the order asked for; the first is the one that curves
/// and tables show.
class Task {
 public:
  explicit Task(std::vector<MeasuredMetric> measured = {}) : measured_(std::move(measured)) {}
  virtual ~Task() = default;
  /// Tells it what it will be measured on, before anything else is asked. Throws Error(usage) naming the key where its
  /// options do not fit the data.
  virtual void prepare(const Dataset& dataset);
  /// Metrics that were asked for and cannot be had of the data, each with the reason: metrics() and evaluate() leave
  /// them out.
  const std::map<std::string, std::string>& unavailable() const { return unavailable_; }
  /// What its examples must have.
  virtual DataKind data_kind() const = 0;
  virtual std::vector<MetricInfo> metrics() const;
  /// Those of metrics() that mean nothing where all predictions are alike.
  std::vector<std::string> hollow_metrics() const;
  /// Logits of ModelOutput::values to l(x) for each example: [B], differentiable.
  virtual torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) const = 0;  // [B]
  /// What training minimises: the mean over all positions of the batch that receive loss, label-smoothed. Scalar.
  virtual torch::Tensor training_loss(const torch::Tensor& values, const Batch& batch,
                                      double label_smoothing) const = 0;
  /// One entry for each example of the batch, in the batch's order.
  virtual Outcomes outcomes(const torch::Tensor& values, const Batch& batch) const = 0;
  /// Adds to `outcomes` the texts that a model writes, for tasks that measure them.
  virtual void write(const WriteInput& /*input*/, Outcomes& /*outcomes*/) const {}
  /// Every metric of metrics() with its uncertainty and, given a base, its paired difference.
  virtual std::vector<MetricResult> evaluate(const MetricInput& input) const;
  /// The metric that choices and early stopping go by: the first, or the loss where that is of texts. Writing them for
  /// every candidate of a choice would take longer than the whole experiment.
  virtual MetricInfo chosen_by() const { return chosen().info; }
  /// Value of chosen_by(), without uncertainty.
  virtual double choice_value(const Outcomes& outcomes) const { return chosen().metric->value(outcomes); }
  /// How metrics that have more than one definition were computed, by name: sacreBLEU's signature, the label of F1.
  virtual std::map<std::string, std::string> signatures() const;

 protected:
  bool measures(const std::string& name) const;
  bool measures_texts() const;

 private:
  MeasuredMetric chosen() const;

  std::vector<MeasuredMetric> measured_;  // without those that unavailable_ names
  std::map<std::string, std::string> unavailable_;
  std::shared_ptr<const SharedBootstrap> bootstrap_ = std::make_shared<const SharedBootstrap>();
};

}  // namespace headprune
