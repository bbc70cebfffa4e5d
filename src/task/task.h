// The interface of a task: per-example losses for scoring and training, per-example outcomes for metrics.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "core/torch.h"
#include "data/source.h"
#include "model/model.h"
#include "record/point.h"
#include "stats/metric_info.h"

namespace headprune {

/// What one example came to under one mask. Kept in the split's order, so that two masks compare example by example.
struct Outcome {
  double loss = 0;                    // l(x): mean over the positions of x that receive loss
  double weight = 1;                  // number of those positions
  int64_t target = -1;                // classification
  int64_t predicted = -1;             // classification: -1 where a logit is not finite
  int64_t labels = 0;                 // classification: how many there are; decides which F1 and Matthews is meant
  int64_t positive = 1;               // classification: the label that F1 is of, where there are two
  int64_t characters = 0, bytes = 0;  // language modelling: of the predicted text; 0 where not known
  std::optional<double> number = {};  // regression: what was to be predicted
  double predicted_number = 0;        // regression
  std::string text = {};              // translation: what the model wrote, where it was asked to
  std::string reference = {};         // translation: what was to be written
};
using Outcomes = std::vector<Outcome>;

struct MetricInput {
  const Outcomes& outcomes;
  const Outcomes* base = nullptr;  // the unpruned model's, same examples; absent for the base itself
  int64_t bootstrap_iters = 10000;
  uint64_t seed = 0;
};

/// A pass over a batch after which the model is to write a text for each example.
struct WriteInput {
  Model& model;
  const Batch& batch;
  const torch::Tensor& memory;  // ModelOutput's
  const PerBlock& gates;        // of the pass, [H] each
  const Tokenizer& tokenizer;   // the dataset's
};

class Task {
 public:
  virtual ~Task() = default;
  /// Tells it what it will be measured on, before anything else is asked. Throws Error(usage) naming the key where its
  /// options do not fit the data.
  virtual void prepare(const Dataset& /*dataset*/) {}
  /// Metrics that were asked for and cannot be had of the data, each with the reason: metrics() and evaluate() leave
  /// them out.
  virtual std::map<std::string, std::string> unavailable() const { return {}; }
  /// What its examples must have.
  virtual DataKind data_kind() const = 0;
  /// In the order asked for; the first is the one that curves and tables show.
  virtual std::vector<MetricInfo> metrics() const = 0;
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
  virtual std::vector<MetricResult> evaluate(const MetricInput& input) const = 0;
  /// The metric that choices and early stopping go by. Without texts: writing them for every candidate of a choice
  /// would take longer than the whole experiment.
  virtual MetricInfo chosen_by() const { return metrics().front(); }
  /// Value of chosen_by(), without uncertainty.
  virtual double choice_value(const Outcomes& outcomes) const = 0;
  /// How metrics that have more than one definition were computed, by name: sacreBLEU's signature, the label of F1.
  virtual std::map<std::string, std::string> signatures() const { return {}; }
};

}  // namespace headprune
