// Losses per example, shared by the tasks, and what all tasks that predict tokens do.
#pragma once

#include "task/task.h"

namespace headprune {

/// l(x): the mean over the positions of x that receive loss. `logits` [B, K] with `targets` [B], or [B, T, K] with
/// [B, T] where kNoTarget receives none; an example without any has 0. Differentiable. [B]
torch::Tensor cross_entropy_by_example(const torch::Tensor& logits, const torch::Tensor& targets);

/// The mean over all positions of the batch that receive loss; a share `label_smoothing` of the target is spread evenly
/// over all K. Scalar.
torch::Tensor mean_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, double label_smoothing);

/// l(x) of regression: (values [B, 1] - numbers [B]) squared, in the type of `values`. Differentiable. [B]
torch::Tensor squared_errors(const torch::Tensor& values, const torch::Tensor& numbers);

/// A task whose batches have targets at positions: the loss of logits [B, T, vocabulary].
class TokenTask : public Task {
 public:
  using Task::Task;
  torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) const override;  // [B]
  torch::Tensor training_loss(const torch::Tensor& values, const Batch& batch, double label_smoothing) const override;
  /// Loss and weight of each example.
  Outcomes outcomes(const torch::Tensor& values, const Batch& batch) const override;
};

}  // namespace headprune
