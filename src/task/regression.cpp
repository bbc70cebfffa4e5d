// `regression`: one number for each sequence, by the squared error (transformers: num_labels 1, problem_type
// regression).
#include "task/losses.h"

namespace headprune {

class Regression : public Task {
 public:
  struct Options {
    std::vector<MetricOf<DataKind::numbered>> metrics = {"pearson", "spearman", "loss"};

    template <class V>
    void fields(V& v) {
      v("metrics", metrics,
        "what is measured, the first one in curves and tables: pearson and spearman (correlations of the numbers with "
        "their predictions), loss (mean squared error) and mae (mean absolute error)",
        not_empty);
    }
    CrossProblems problems() const { return repeated_metrics(metrics); }
  };

  explicit Regression(const Options& options) : Task(measured_metrics(options.metrics)) {}
  DataKind data_kind() const override { return DataKind::numbered; }

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
};

namespace {
const Register<Task, Regression> register_regression{"regression", "one number for each sequence"};
}  // namespace

}  // namespace headprune
