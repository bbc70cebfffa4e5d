// `multiple_choice`: which of several texts follows a context, by their likelihoods.
#include "task/multiple_choice.h"

#include <algorithm>
#include <cmath>

#include "task/losses.h"

namespace headprune {

namespace {

/// The first of the largest; -1 where one is not finite.
int64_t best_of(const std::vector<double>& values) {
  for (const double value : values)
    if (!std::isfinite(value)) return -1;
  return std::max_element(values.begin(), values.end()) - values.begin();
}

/// The rows of the right choices, [B]; undefined where each row is one.
torch::Tensor right_rows(const Batch& batch) {
  if (batch.choices.empty()) return {};
  std::vector<int64_t> rows;
  for (const ChoiceRows& one : batch.choices) rows.push_back(one.first + one.right);
  return torch::tensor(rows, torch::kInt64).to(batch.tokens.device());
}

}  // namespace

std::vector<double> choice_log_likelihoods(const torch::Tensor& values, const torch::Tensor& targets) {
  const torch::Tensor predicted = targets.ne(kNoTarget);  // [R, T]
  // Most positions are the context's.
  const torch::Tensor rows = predicted.nonzero().select(1, 0);  // [M]
  const torch::Tensor losses = at::cross_entropy_loss(values.index({predicted}), targets.index({predicted}), {},
                                                      at::Reduction::None);  // [M]
  const torch::Tensor sums = torch::zeros({targets.size(0)}, losses.options().dtype(torch::kFloat64))
                                 .index_add(0, rows, losses.to(torch::kFloat64))
                                 .to(torch::kCPU);  // [R]
  std::vector<double> all;
  for (int64_t row = 0; row < sums.size(0); ++row) all.push_back(-sums.const_data_ptr<double>()[row]);
  return all;
}

class MultipleChoice : public TokenTask {
 public:
  struct Options {
    std::vector<MetricOf<DataKind::choices>> metrics = {"accuracy", "accuracy_norm", "loss"};

    template <class V>
    void fields(V& v) {
      v("metrics", metrics,
        "what is measured, the first one in curves and tables: accuracy (of the likeliest choice: acc of "
        "lm-evaluation-harness), accuracy_norm (of the likeliest by character of the choice: its acc_norm) and loss "
        "(nats per token of the right choice, by which heads are scored)",
        not_empty);
    }
    CrossProblems problems() const { return repeated_metrics(metrics); }
  };

  explicit MultipleChoice(const Options& options) : TokenTask(measured_metrics(options.metrics)) {}
  DataKind data_kind() const override { return DataKind::choices; }

  torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) const override {
    const torch::Tensor rows = right_rows(batch);
    if (!rows.defined()) return TokenTask::example_losses(values, batch);  // [B]
    return cross_entropy_by_example(values.index_select(0, rows), batch.targets.index_select(0, rows));
  }

  Outcomes outcomes(const torch::Tensor& values, const Batch& batch) const override {
    TORCH_CHECK(batch.choices.size() == batch.examples.size(), "a batch with all choices of its examples");
    const std::vector<double> likelihoods = choice_log_likelihoods(values, batch.targets);
    const torch::Tensor counts = batch.targets.ne(kNoTarget).sum(1).to(torch::kCPU);  // [R]
    Outcomes all;
    for (const ChoiceRows& rows : batch.choices) {
      Outcome outcome;
      for (size_t i = 0; i < rows.characters.size(); ++i)
        outcome.choices.push_back(likelihoods[static_cast<size_t>(rows.first) + i]);
      std::vector<double> by_character = outcome.choices;
      for (size_t i = 0; i < by_character.size(); ++i) by_character[i] /= static_cast<double>(rows.characters[i]);
      const auto right = static_cast<size_t>(rows.right);
      outcome.weight = static_cast<double>(counts.const_data_ptr<int64_t>()[rows.first + rows.right]);
      outcome.loss = -outcome.choices[right] / outcome.weight;
      outcome.target = rows.right;
      outcome.predicted = best_of(outcome.choices);
      outcome.predicted_by_length = best_of(by_character);
      all.push_back(std::move(outcome));
    }
    return all;
  }
};

namespace {
const Register<Task, MultipleChoice> register_multiple_choice{"multiple_choice",
                                                              "which of several texts follows a context"};
}  // namespace

}  // namespace headprune
