// Losses per example, shared by the tasks.
#pragma once

#include "task/task.h"

namespace headprune {

/// l(x): the mean over the positions of x that receive loss. `logits` [B, K] with `targets` [B], or [B, T, K] with
/// [B, T] where kNoTarget receives none; an example without any has 0. Differentiable. [B]
torch::Tensor cross_entropy_by_example(const torch::Tensor& logits, const torch::Tensor& targets);

/// The mean over all positions of the batch that receive loss; a share `label_smoothing` of the target is spread evenly
/// over all K. Scalar.
torch::Tensor mean_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, double label_smoothing);

/// Outcomes of a task that predicts tokens: `losses` [B] are those of cross_entropy_by_example().
Outcomes token_outcomes(const torch::Tensor& losses, const Batch& batch);

/// l(x) of regression: (values [B, 1] - numbers [B]) squared, in the type of `values`. Differentiable. [B]
torch::Tensor squared_errors(const torch::Tensor& values, const torch::Tensor& numbers);

}  // namespace headprune
