// `classification`: one label for each sequence.
#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "task/losses.h"
#include "task/task.h"

namespace headprune {

class Classification : public Task {
 public:
  struct Options {
    std::vector<MetricOf<DataKind::labelled>> metrics = {"accuracy", "loss"};
    std::optional<std::string> positive_label;

    template <class V>
    void fields(V& v) {
      v("metrics", metrics,
        "what is measured, the first one in curves and tables: accuracy, loss, f1 (of positive_label where there are "
        "two labels, else the mean over labels) and matthews",
        not_empty);
      v("positive_label", positive_label,
        "of two labels the one whose F1 is measured; absent: the second, in the order of the loaded model or else of "
        "the alphabet");
    }
    CrossProblems problems() const { return repeated_metrics(metrics); }
  };

  explicit Classification(Options options) : Task(measured_metrics(options.metrics)), options_(std::move(options)) {}
  DataKind data_kind() const override { return DataKind::labelled; }

  void prepare(const Dataset& dataset) override {
    Task::prepare(dataset);
    labels_ = dataset.labels;
    if (!options_.positive_label) return;
    const auto found = std::find(labels_.begin(), labels_.end(), *options_.positive_label);
    if (labels_.size() != 2 || found == labels_.end())
      fail(ExitCode::usage, "task.positive_label: '{}' is not one of two labels; the labels are {}",
           *options_.positive_label, join(labels_, ", "));
    positive_ = found - labels_.begin();
  }

  std::map<std::string, std::string> signatures() const override {
    if (!measures("f1") || labels_.empty()) return {};
    if (labels_.size() != 2) return {{"f1", fmt::format("unweighted mean over {} labels (macro)", labels_.size())}};
    return {
        {"f1", fmt::format("of the label '{}'{}", labels_[static_cast<size_t>(positive_)],
                           options_.positive_label ? "" : ", the second of two (task.positive_label names another)")}};
  }

  torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) const override {
    return cross_entropy_by_example(values, batch.labels);  // [B]
  }

  torch::Tensor training_loss(const torch::Tensor& values, const Batch& batch, double label_smoothing) const override {
    return mean_cross_entropy(values, batch.labels, label_smoothing);
  }

  Outcomes outcomes(const torch::Tensor& values, const Batch& batch) const override {
    const torch::Tensor losses = example_losses(values, batch).to(torch::kCPU, torch::kFloat64);  // [B]
    // A row with a non-finite logit predicts nothing.
    const torch::Tensor finite = values.isfinite().all(1);                                 // [B]
    const torch::Tensor best = values.argmax(1).masked_fill(~finite, -1).to(torch::kCPU);  // [B]
    const torch::Tensor labels = batch.labels.to(torch::kCPU);                             // [B]
    Outcomes all(static_cast<size_t>(batch.size()));
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = {.loss = losses.const_data_ptr<double>()[i],
                .weight = 1,
                .target = labels.const_data_ptr<int64_t>()[i],
                .predicted = best.const_data_ptr<int64_t>()[i],
                .labels = values.size(1),
                .positive = positive_};
    return all;
  }

 private:
  Options options_;
  std::vector<std::string> labels_;
  int64_t positive_ = 1;
};

namespace {
const Register<Task, Classification> register_classification{"classification", "one label for each sequence"};
}  // namespace

}  // namespace headprune
