// A model and a task small enough to be computed on paper, in float64, for tests of what lies above them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch_torch.h"
#include "task/task.h"

namespace headprune {

/// Classifies by the mean of embeddings m = mean E[token]: with contexts (m V)_h of two heads of width 2, gated,
/// logits = tanh(m + concat O + ob) C + cb. Weights are 0.5 cos(i + k) for element i of parameter k.
class TinyModel : public Model {
 public:
  static constexpr int64_t kVocabulary = 8, kWidth = 4, kHeads = 2, kLabels = 3;

  explicit TinyModel(double dropout = 0) : dropout_(dropout) {
    embedding = weight("embedding", 0, {kVocabulary, kWidth});
    value = weight("value", 1, {kWidth, kWidth});
    output = weight("output", 2, {kWidth, kWidth});
    output_bias = weight("output_bias", 3, {kWidth});
    classifier = weight("classifier", 4, {kWidth, kLabels});
    classifier_bias = weight("classifier_bias", 5, {kLabels});
  }

  Blocks blocks() const override { return {{{Kind::encoder, 0}, {0, 1}}}; }
  ModelOutput forward(const Batch& batch, const HeadProbe& probe) override {
    const torch::Tensor present = batch.present.to(torch::kFloat64).unsqueeze(-1);  // [B, T, 1]
    const torch::Tensor mean =
        (embedding.index_select(0, batch.tokens.flatten()).view({batch.size(), -1, kWidth}) * present).sum(1) /
        present.sum(1);                                                                                  // [B, C]
    torch::Tensor contexts = mean.matmul(value).view({batch.size(), kHeads, -1});                        // [B, H, Dv]
    if (!probe.gates.empty()) contexts = contexts * probe.gates.front().unsqueeze(-1);                   // [B, H, Dv]
    const torch::Tensor attended = contexts.flatten(1).matmul(output) + output_bias;                     // [B, C]
    const torch::Tensor hidden = torch::dropout(torch::tanh(mean + attended), dropout_, is_training());  // [B, C]
    return {.values = hidden.matmul(classifier) + classifier_bias, .memory = {}, .heads = {}};           // [B, labels]
  }
  void remove_heads(const HeadSet&) override { throw std::logic_error("TinyModel has no surgery"); }
  Attention& attention(size_t) override { throw std::logic_error("TinyModel has no attention module"); }
  std::shared_ptr<Model> copy() const override {
    auto twin = std::make_shared<TinyModel>(dropout_);
    torch::NoGradGuard no_gradients;
    for (const auto& item : named_parameters()) twin->named_parameters()[item.key()].copy_(item.value());
    return twin;
  }
  Json config() const override { return {{"model_type", "tiny"}}; }

  torch::Tensor embedding, value, output, output_bias, classifier, classifier_bias;

 private:
  torch::Tensor weight(const std::string& name, int64_t k, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    return register_parameter(name, 0.5 * torch::cos(torch::arange(count, torch::kFloat64) + k).view(shape));
  }
  double dropout_;
};

/// Cross entropy; the headline metric is the loss, or whatever `headlines` says, call after call.
class TinyTask : public Task {
 public:
  DataKind data_kind() const override { return DataKind::labelled; }
  std::vector<MetricInfo> metrics() const override {
    if (headlines.empty()) return {{.name = "loss", .higher_is_better = false}};
    return {{.name = "accuracy", .higher_is_better = true}};
  }
  MetricInfo chosen_by() const override { return metrics().front(); }
  torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) const override {
    return at::cross_entropy_loss(values, batch.labels, {}, at::Reduction::None);  // [B]
  }
  torch::Tensor training_loss(const torch::Tensor& values, const Batch& batch, double smoothing) const override {
    const torch::Tensor loss =
        at::cross_entropy_loss(values, batch.labels, {}, at::Reduction::Mean, /*ignore_index=*/-100, smoothing);
    // The square root has the value 0 and an infinite derivative here.
    return infinite_gradient ? loss + (values * 0).sum().sqrt() : loss;
  }
  Outcomes outcomes(const torch::Tensor& values, const Batch& batch) const override {
    const torch::Tensor losses = example_losses(values, batch);  // [B]
    Outcomes all;
    for (int64_t i = 0; i < batch.size(); ++i)
      all.push_back({.loss = losses[i].item<double>(),
                     .weight = 1,
                     .target = batch.labels[i].item<int64_t>(),
                     .predicted = values[i].argmax().item<int64_t>()});
    return all;
  }
  std::vector<MetricResult> evaluate(const MetricInput&) const override { return {}; }
  double choice_value(const Outcomes& outcomes) const override {
    if (!headlines.empty()) return headlines.at(calls++);
    double sum = 0;
    for (const Outcome& outcome : outcomes) sum += outcome.loss;
    return sum / static_cast<double>(outcomes.size());
  }

  std::vector<double> headlines;
  mutable size_t calls = 0;
  bool infinite_gradient = false;
};

/// `train` with the given examples, `select` with the same.
inline Dataset tiny_dataset(const std::vector<Example>& examples) {
  Dataset data;
  data.name = "tiny";
  data.labels = {"a", "b", "c"};
  auto split = std::make_shared<Split>();
  split->name = "train";
  split->examples = examples;
  split->original = static_cast<int64_t>(examples.size());
  data.train = data.score = data.select = data.report = split;
  return data;
}

inline Example tiny_example(std::vector<int64_t> tokens, int64_t label) {
  return {.tokens = std::move(tokens), .token_types = {}, .special = {}, .label = label, .targets = {}};
}

/// Six examples of lengths 2 to 4.
inline std::vector<Example> six_examples() {
  return {tiny_example({2, 4, 5}, 0),    tiny_example({2, 5, 6, 7}, 1), tiny_example({2, 6}, 2),
          tiny_example({2, 7, 4, 4}, 0), tiny_example({2, 5, 5}, 1),    tiny_example({2, 6, 7}, 2)};
}

}  // namespace headprune
