// Small models of every family with padded batches, and scores chosen as in a configuration file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/batch.h"
#include "model/transformer_model.h"
#include "score/score.h"
#include "support/catch_torch.h"
#include "task/task.h"

namespace headprune::test {

/// Only the losses, written apart from the program's tasks: -log softmax of the label, or its mean over targets.
class LossTask final : public Task {
 public:
  explicit LossTask(Kind kind) : kind_(kind) {}
  DataKind data_kind() const override {
    if (kind_ == Kind::cross) return DataKind::translation;
    return kind_ == Kind::encoder ? DataKind::labelled : DataKind::language;
  }
  std::vector<MetricInfo> metrics() const override { return {}; }
  torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) const override;
  torch::Tensor training_loss(const torch::Tensor& values, const Batch& batch, double) const override {
    return example_losses(values, batch).mean();
  }
  Outcomes outcomes(const torch::Tensor& values, const Batch& batch) const override;
  std::vector<MetricResult> evaluate(const MetricInput&) const override { return {}; }
  double choice_value(const Outcomes&) const override { return 0; }

 private:
  Kind kind_;
};

/// The model that an attention kind stands for: a classifier, a language model, and an encoder-decoder, which has all
/// three kinds.
constexpr Kind kFamilies[] = {Kind::encoder, Kind::decoder, Kind::cross};

struct Subject {
  std::shared_ptr<TransformerModel> model;
  LossTask task;
  std::vector<Example> examples;
};

/// 2 layers (on each side), blocks of 3 heads with Dk = 3, Dv = 2, d_model = 8, every parameter drawn from a normal
/// distribution; 7 examples of lengths 2 to 6, with targets of other lengths where they are translated. `gone` heads
/// never exist. With `groups`, blocks of 4 heads that share the keys and values of so many groups.
Subject make_subject(Kind kind, torch::ScalarType type, const HeadSet& gone = {}, int64_t groups = 0);

/// Place of a block in model->blocks().
size_t place_of(const Subject& subject, const BlockId& block);

/// In batches of `batch_size`, in the order of the examples or in reverse.
std::vector<Batch> batches_of(const std::vector<Example>& examples, int64_t batch_size, bool reverse = false);

/// A score with its options as YAML has them: "random", "{entropy: {scale: nats}}".
std::shared_ptr<const ScoreMethod> make_score(const std::string& yaml);

struct Scored {
  int64_t batch_size = 3;
  bool reverse = false;
  HeadSet removed = {};
  int64_t draw = 0;
};
Importance score(const std::string& yaml, const Subject& subject, const Scored& how = {});

/// Every definition that a registered score offers, with what it does not share with the others.
struct Definition {
  std::string yaml;
  bool depends_on_batches = false;
  bool looks_at_model = true;  // in passes, so that its products and values that are not finite show
  bool draws_orders = false;   // of heads by their place: of few orders each place has another value
};
const std::vector<Definition>& definitions();

/// Largest |a - b| over the largest |b|, over all blocks.
double relative_difference(const PerBlock& a, const PerBlock& b);

/// Value of head `head` (original id) of `block`.
double value_of(const Importance& importance, const Blocks& blocks, const HeadId& head);

}  // namespace headprune::test
