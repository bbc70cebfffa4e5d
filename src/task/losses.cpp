#include "task/losses.h"

namespace headprune {

torch::Tensor cross_entropy_by_example(const torch::Tensor& logits, const torch::Tensor& targets) {
  const int64_t K = logits.size(-1);
  const torch::Tensor losses = at::cross_entropy_loss(logits.reshape({-1, K}), targets.reshape({-1}), {},
                                                      at::Reduction::None, kNoTarget);  // [B] or [B T]
  if (targets.dim() == 1) return losses;                                                // [B]
  const torch::Tensor sums = losses.view_as(targets).sum(1);                            // [B]
  return sums / targets.ne(kNoTarget).sum(1).clamp_min(1);                              // [B]
}

torch::Tensor mean_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, double label_smoothing) {
  const int64_t K = logits.size(-1);
  return at::cross_entropy_loss(logits.reshape({-1, K}), targets.reshape({-1}), {}, at::Reduction::Mean, kNoTarget,
                                label_smoothing);
}

torch::Tensor TokenTask::example_losses(const torch::Tensor& values, const Batch& batch) const {
  return cross_entropy_by_example(values, batch.targets);  // [B]
}

torch::Tensor TokenTask::training_loss(const torch::Tensor& values, const Batch& batch, double label_smoothing) const {
  return mean_cross_entropy(values, batch.targets, label_smoothing);
}

Outcomes TokenTask::outcomes(const torch::Tensor& values, const Batch& batch) const {
  const torch::Tensor losses = example_losses(values, batch).to(torch::kCPU, torch::kFloat64);        // [B]
  const torch::Tensor weights = batch.targets.ne(kNoTarget).sum(1).to(torch::kCPU, torch::kFloat64);  // [B]
  Outcomes all(static_cast<size_t>(batch.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].loss = losses.const_data_ptr<double>()[i];
    all[i].weight = weights.const_data_ptr<double>()[i];
    if (batch.characters.empty()) continue;  // a batch that was not made from examples
    all[i].characters = batch.characters[i];
    all[i].bytes = batch.bytes[i];
  }
  return all;
}

torch::Tensor squared_errors(const torch::Tensor& values, const torch::Tensor& numbers) {
  return (values.squeeze(1) - numbers.to(values.scalar_type())).square();  // [B]
}

}  // namespace headprune
