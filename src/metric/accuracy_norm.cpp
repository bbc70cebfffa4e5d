// `accuracy_norm`: of choices, the share of examples whose likeliest choice by character is right (acc_norm of
// lm-evaluation-harness).
#include "metric/metric.h"

namespace headprune {
namespace {

class AccuracyNorm final : public ProportionMetric {
 public:
  using Options = NoOptions;
  explicit AccuracyNorm(Options) {}
  std::vector<DataKind> kinds() const override { return {DataKind::choices}; }
  MetricInfo info(DataKind) const override {
    return {.higher_is_better = true, .range = {0, 1}, .unit = "share of examples", .proportion = true};
  }

 protected:
  bool right(const Outcome& outcome) const override { return outcome.predicted_by_length == outcome.target; }
};

const Register<Metric, AccuracyNorm> register_accuracy_norm{
    "accuracy_norm", "examples whose likeliest choice by character is right, over all"};

}  // namespace
}  // namespace headprune
