// `classification`: one label for each sequence.
#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "task/losses.h"
#include "task/metrics.h"

namespace headprune {

enum class ClassificationMetric { accuracy, loss, f1, matthews };
template <>
struct EnumNames<ClassificationMetric> {
  static constexpr std::pair<const char*, ClassificationMetric> names[] = {
      {"accuracy", ClassificationMetric::accuracy},
      {"loss", ClassificationMetric::loss},
      {"f1", ClassificationMetric::f1},
      {"matthews", ClassificationMetric::matthews}};
};

class Classification : public Task {
 public:
  struct Options {
    std::vector<ClassificationMetric> metrics = {ClassificationMetric::accuracy, ClassificationMetric::loss};
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

  explicit Classification(Options options) : options_(std::move(options)) {}
  DataKind data_kind() const override { return DataKind::labelled; }

  void prepare(const Dataset& dataset) override {
    labels_ = dataset.labels;
    if (!options_.positive_label) return;
    const auto found = std::find(labels_.begin(), labels_.end(), *options_.positive_label);
    if (labels_.size() != 2 || found == labels_.end())
      fail(ExitCode::usage, "task.positive_label: '{}' is not one of two labels; the labels are {}",
           *options_.positive_label, join(labels_, ", "));
    positive_ = found - labels_.begin();
  }

  std::map<std::string, std::string> signatures() const override {
    const bool measured =
        std::find(options_.metrics.begin(), options_.metrics.end(), ClassificationMetric::f1) != options_.metrics.end();
    if (!measured || labels_.empty()) return {};
    if (labels_.size() != 2) return {{"f1", fmt::format("unweighted mean over {} labels (macro)", labels_.size())}};
    return {
        {"f1", fmt::format("of the label '{}'{}", labels_[static_cast<size_t>(positive_)],
                           options_.positive_label ? "" : ", the second of two (task.positive_label names another)")}};
  }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all;
    for (const ClassificationMetric metric : options_.metrics) all.push_back(metric_info(enum_name(metric)));
    return all;
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

  std::vector<MetricResult> evaluate(const MetricInput& input) const override {
    std::vector<MetricResult> results;
    for (const ClassificationMetric metric : options_.metrics) results.push_back(evaluate_one(metric, input));
    return results;
  }

  double choice_value(const Outcomes& all) const override {
    switch (options_.metrics.front()) {
      case ClassificationMetric::accuracy:
        return accuracy_value(all);
      case ClassificationMetric::loss:
        return metric_value(loss_metric, all);
      case ClassificationMetric::f1:
        return metric_value(f1_metric, all);
      default:
        return metric_value(matthews_metric, all);
    }
  }

 private:
  MetricResult evaluate_one(ClassificationMetric metric, const MetricInput& input) const {
    switch (metric) {
      case ClassificationMetric::accuracy:
        return accuracy(input);
      case ClassificationMetric::loss:
        return mean_loss("loss", input, bootstrap_);
      case ClassificationMetric::f1:
        return resampled_metric("f1", f1_metric, input, bootstrap_);
      default:
        return resampled_metric("matthews", matthews_metric, input, bootstrap_);
    }
  }

  Options options_;
  std::vector<std::string> labels_;
  int64_t positive_ = 1;
  SharedBootstrap bootstrap_;
};

namespace {
const Register<Task, Classification> register_classification{"classification", "one label for each sequence"};
}  // namespace

}  // namespace headprune
